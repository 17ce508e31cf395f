begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'every null that is allowed') from jobs.enqueue('k', null, null, null, null, null, null) as e;
select is((j.key, j.payload, j.priority, j.max_attempts)::text, '(,,0,)', 'stands for the default') from jobs.job as j where j.kind = 'k';
select is(j.run_after, jobs.clock(), 'and now') from jobs.job as j where j.kind = 'k';
select is(e.outcome, 'inserted', 'by position, with literals')
from jobs.enqueue('l', 'a', '{"n": 1}', '2031-01-01 00:00:00+00', null, 1, 2, 'earliest') as e;
select is((j.payload, j.priority, j.max_attempts)::text, '("{""n"": 1}",1,2)', 'as stored') from jobs.job as j where j.kind = 'l';
select is(e.outcome, 'inserted', 'by name') from jobs.enqueue(
    on_conflict => 'keep', max_attempts => 2, priority => 1, delay => '1 s', run_after => null, payload => '[]', key => 'a', kind => 'm'
) as e;
select is((j.payload, j.priority, j.max_attempts)::text, '([],1,2)', 'as stored') from jobs.job as j where j.kind = 'm';

select * from finish();
rollback;

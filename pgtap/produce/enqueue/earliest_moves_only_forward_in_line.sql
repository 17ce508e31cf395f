begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job due in an hour') from jobs.enqueue('k', 'a', delay => '1 hour') as e;
select isnt(e.outcome, 'inserted', 'a later time meets it') from jobs.enqueue('k', 'a', delay => '2 hours', on_conflict => 'earliest') as e;
select is(j.run_after, jobs.clock() + interval '1 hour', 'and does not move it back') from jobs.job as j where j.key = 'a';
select is(e.outcome, 'reset', 'an earlier time moves it')
from jobs.enqueue('k', 'a', delay => '1 minute', on_conflict => 'earliest') as e;
select is(j.run_after, jobs.clock() + interval '1 minute', 'forward') from jobs.job as j where j.key = 'a';
select is(e.outcome, 'inserted', 'a new key is inserted') from jobs.enqueue('k', 'b', on_conflict => 'earliest') as e;

select * from finish();
rollback;

begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'a new key is inserted')
from jobs.enqueue('k', 'a', '{"n": 1}', delay => '1 hour', on_conflict => 'keep') as e;
create temp table was as select j.* from jobs.job as j;
select is((e.id, e.outcome)::text, format('(%s,kept)', w.id), 'the second is kept')
from was as w
cross join lateral jobs.enqueue('k', 'a', '{"n": 2}', delay => '5 s', priority => 9, max_attempts => 1, on_conflict => 'keep') as e;
select results_eq('select * from jobs.job', 'select * from was', 'nothing of the job has changed');
select is_empty('select from jobs.trigger', 'and no trigger is stored');

select * from finish();
rollback;

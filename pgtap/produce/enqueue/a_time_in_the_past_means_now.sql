begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a time long past') from jobs.enqueue('k', 'a', run_after => '1999-01-01 00:00:00+00') as e;
select is(j.run_after, jobs.clock(), 'is stored as now') from jobs.job as j where j.key = 'a';
select isnt(e.id, null, 'delay 0') from jobs.enqueue('k', 'b', delay => '0') as e;
select is(j.run_after, jobs.clock(), 'is now') from jobs.job as j where j.key = 'b';
select isnt(e.id, null, 'a delay below 0') from jobs.enqueue('k', 'c', delay => '-1 day') as e;
select is(j.run_after, jobs.clock(), 'is now') from jobs.job as j where j.key = 'c';
select isnt(e.id, null, 'scheduled for later') from jobs.enqueue('k', 'd', delay => '1 hour') as e;
select is(e.outcome, 'reset', 'and reset to a time in the past')
from jobs.enqueue('k', 'd', run_after => '1999-01-01 00:00:00+00') as e;
select is(j.run_after, jobs.clock(), 'is due now') from jobs.job as j where j.key = 'd';

select * from finish();
rollback;

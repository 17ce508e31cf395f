begin;
select plan(10);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create temp table was as select e.id from jobs.enqueue('k', 'a', '{"n": 1}', delay => '10 s', priority => 3, max_attempts => 4) as e;
set local test.clock = '2030-01-01 12:00:05+00';
select is(e.outcome, 'reset', 'a second enqueue resets') from jobs.enqueue('k', 'a', delay => '10 s') as e;
select is(j.run_after, '2030-01-01 12:00:15+00'::timestamptz, 'run_after starts again: that is the debounce')
from jobs.job as j where j.key = 'a';
select is(j.payload, '{"n": 1}'::jsonb, 'without a payload the old one stays') from jobs.job as j where j.key = 'a';
select is((j.priority, j.max_attempts)::text, '(3,4)', 'so do priority and limit') from jobs.job as j where j.key = 'a';
select is((e.id, e.outcome)::text, format('(%s,reset)', w.id), 'the same job, the id says so')
from was as w cross join lateral jobs.enqueue('k', 'a', '{"n": 2}', run_after => '2030-01-01 13:00:00+00') as e;
select is(j.payload, '{"n": 2}'::jsonb, 'a given payload replaces the old one') from jobs.job as j where j.key = 'a';
select is(j.run_after, '2030-01-01 13:00:00+00'::timestamptz, 'a later time is taken as well') from jobs.job as j where j.key = 'a';
select is(e.outcome, 'reset', 'without a time it is due now') from jobs.enqueue('k', 'a') as e;
select is(j.run_after, jobs.clock(), 'due now') from jobs.job as j where j.key = 'a';
select is(count(*), 1::bigint, 'one job in all') from jobs.job as j;

select * from finish();
rollback;

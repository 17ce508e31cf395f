begin;
select plan(10);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs, one scheduled') from (values ('a', '0 s'), ('b', '1 day')) as v (key, delay) cross join lateral jobs.enqueue('k', v.key, delay => v.delay::interval) as e;
select is(jobs.cancel(j.id), 'cancelled', 'cancelled') from jobs.job as j order by j.id;
select is((j.state, j.attempts, j.finished_at = jobs.clock())::text, '(cancelled,0,t)', 'it has ended') from jobs.job as j order by j.id;
select is(jobs.cancel(j.id), 'cancelled', 'twice is once') from jobs.job as j order by j.id;
select is_empty('select from jobs.claim(batch => 10)', 'nothing is claimed');
set local test.clock = '2030-01-03 12:00:00+00';
select is_empty('select from jobs.claim(batch => 10)', 'not even later');
select is(e.outcome, 'inserted', 'the key is free') from jobs.enqueue('k', 'a') as e;

select * from finish();
rollback;

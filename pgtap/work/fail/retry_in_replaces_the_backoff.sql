begin;
select plan(0);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(f.run_after, jobs.clock() + interval '3 hours', 'later than the longest backoff') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '3 hours') as f;
update jobs.job set run_after = jobs.clock();
select is(f.run_after, jobs.clock(), 'or now') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '0 s') as f;
select is(f.run_after, jobs.clock(), 'a time in the past means now') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '-1 hour') as f;
select is(j.attempts, 3, 'each counts') from jobs.job as j;

select * from finish();
rollback;

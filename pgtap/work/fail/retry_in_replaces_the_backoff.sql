begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(f.run_after, jobs.clock() + interval '3 hours', 'later than the longest backoff') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '3 hours') as f;
update jobs.job set run_after = jobs.clock();
select is(f.run_after, jobs.clock(), 'or now') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '0 s') as f;
select is(j.attempts, 2, 'each counts') from jobs.job as j;
create temp table held as select c.* from jobs.claim() as c;
select throws_ok(format('select jobs.fail(%s, %L, ''x'', ''-1 s'')', h.id, h.claimed_by), '22023', null, 'not before now') from held as h;
select throws_ok(format('select jobs.fail(%s, %L, ''x'', ''1000 years'')', h.id, h.claimed_by), '22023', null, 'nor after the end of days') from held as h;
select is(j.state, 'running', 'a refused call changes nothing') from jobs.job as j;

select * from finish();
rollback;

begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a') as e;
select is((jobs.fail(h.id, h.claimed_by, 'x', final => true)).state, 'failed', 'final') from held as h;
select is((c.id <> h.id, c.attempts)::text, '(t,0)', 'a fresh job is due') from held as h cross join lateral jobs.claim() as c;

select * from finish();
rollback;

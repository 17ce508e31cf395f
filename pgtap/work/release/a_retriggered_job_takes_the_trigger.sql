begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}') as e;
select lives_ok(format('select jobs.release(%s, %L, %L)', h.id, h.claimed_by, '1 hour'), 'released for an hour') from held as h;
select is((c.id = h.id, c.payload)::text, '(t,"{""n"": 2}")', 'but the trigger is due now') from held as h cross join lateral jobs.claim() as c;
select is_empty('select from jobs.trigger', 'the trigger is used up');

select * from finish();
rollback;

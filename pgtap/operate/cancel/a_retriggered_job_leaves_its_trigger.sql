begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}') as e;
select is(jobs.cancel(h.id), 'cancelled', 'this run is cancelled') from held as h;
set local test.clock = '2030-01-01 12:00:01+00';
select is((c.id <> h.id, c.payload)::text, '(t,"{""n"": 2}")', 'the trigger gets a fresh job') from held as h cross join lateral jobs.claim() as c;
select is_empty('select from jobs.trigger', 'no trigger is left');

select * from finish();
rollback;

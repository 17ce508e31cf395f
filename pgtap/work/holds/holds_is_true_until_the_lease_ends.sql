begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim(lease => '10 s') as c;
select is(jobs.holds(h.id, h.claimed_by), true, 'true at the start') from held as h;
select is(jobs.holds(h.id, gen_random_uuid()), false, 'not for another token') from held as h;
select is(jobs.holds(h.id + 1, h.claimed_by), false, 'not for another job') from held as h;
set local test.clock = '2030-01-01 12:00:09.999999+00';
select is(jobs.holds(h.id, h.claimed_by), true, 'true a microsecond before the end') from held as h;
set local test.clock = '2030-01-01 12:00:10+00';
select is(jobs.holds(h.id, h.claimed_by), false, 'false at the end') from held as h;

select * from finish();
rollback;

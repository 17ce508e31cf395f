begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim(lease => '10 s', worker => 'first') as c;
set local test.clock = '2030-01-01 12:00:09.999999+00';
select is_empty('select from jobs.claim()', 'a microsecond before the end it is not');
set local test.clock = '2030-01-01 12:00:10+00';
create temp table again as select c.* from jobs.claim(worker => 'second') as c;
select is((a.id = h.id, a.attempts, a.worker)::text, '(t,1,second)', 'at the end it is, and the lost attempt counts') from again as a, held as h;
select matches(a.last_error, '^lease expired', 'last_error says so') from again as a;
select isnt(a.claimed_by, h.claimed_by, 'another token') from again as a, held as h;
select cmp_ok(a.epoch, '>', h.epoch, 'a larger epoch') from again as a, held as h;

select * from finish();
rollback;

begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', lease => '2 minutes') $$, 'a kind with a lease');
select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
create temp table held as select c.* from jobs.claim(lease => '10 s') as c;
set local test.clock = '2030-01-01 12:00:05+00';
select is(jobs.extend(h.id, h.claimed_by), jobs.clock() + interval '2 minutes', 'by the kind''s lease') from held as h;
select is(j.claimed_until, jobs.clock() + interval '2 minutes', 'the row says so') from jobs.job as j;
select is(jobs.extend(h.id, h.claimed_by, '30 s'), jobs.clock() + interval '30 s', 'by the given one, also if that is shorter') from held as h;
select is((j.claimed_by = h.claimed_by, j.epoch = h.epoch, j.attempts, j.state)::text, '(t,t,0,running)', 'the claim is the same') from jobs.job as j, held as h;
set local test.clock = '2030-01-01 12:00:34.999999+00';
select is_empty('select from jobs.claim()', 'nobody gets it before the new end');
set local test.clock = '2030-01-01 12:00:35+00';
select is(count(*), 1::bigint, 'at the new end somebody does') from jobs.claim() as c;

select * from finish();
rollback;

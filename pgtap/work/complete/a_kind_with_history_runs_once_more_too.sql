begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 hour') $$, 'a kind that keeps history');
select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a') as e;
select is(jobs.complete(h.id, h.claimed_by, '{"r": 1}'), 'pending', 'it runs once more') from held as h;
select is(count(*), 1::bigint, 'it is claimed again') from jobs.claim() as c;

select * from finish();
rollback;

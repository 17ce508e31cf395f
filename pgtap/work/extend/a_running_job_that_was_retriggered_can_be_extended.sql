begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim(lease => '10 s') as c;
select is(e.outcome, 'retriggered', 'triggered') from jobs.enqueue('k', 'a') as e;
select is(jobs.extend(h.id, h.claimed_by, '1 minute'), jobs.clock() + interval '1 minute', 'extended') from held as h;
select lives_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'fenced') from held as h;
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'and runs once more') from held as h;

select * from finish();
rollback;

begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}', priority => 2) as e;
select is((jobs.fail(c.id, c.claimed_by, 'x', '0 s')).state, 'pending', 'fails once') from jobs.claim() as c;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}', delay => '30 s') as e;
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'it runs once more') from held as h;
select is(
    (j.id = h.id, j.state, j.attempts, j.payload, j.priority, j.last_error, j.claimed_by, j.claimed_until)::text,
    '(t,pending,0,"{""n"": 2}",2,,,)', 'no attempts, the new payload, the same job'
)
from jobs.job as j, held as h;
select is(j.run_after, jobs.clock() + interval '30 s', 'at the time of the trigger') from jobs.job as j;
select is_empty('select from jobs.trigger', 'the trigger is used up');
set local test.clock = '2030-01-01 12:00:30+00';
select is(jobs.complete(c.id, c.claimed_by), 'deleted', 'without a trigger it ends') from jobs.claim() as c;

select * from finish();
rollback;

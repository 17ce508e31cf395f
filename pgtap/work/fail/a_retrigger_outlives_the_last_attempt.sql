begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job with one attempt') from jobs.enqueue('k', 'a', '{"n": 1}', max_attempts => 1) as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}', delay => '10 s') as e;
select is((f.state)::text, 'failed', 'it fails for good') from held as h cross join lateral jobs.fail(h.id, h.claimed_by, 'x') as f;
select is(
    (j.state, j.attempts, j.payload, j.run_after = jobs.clock() + interval '10 s')::text, '(pending,0,"{""n"": 2}",t)', 'a fresh job has the trigger'
)
from jobs.job as j join held as h on h.id <> j.id;
select is((j.state, j.payload)::text, '(failed,"{""n"": 1}")', 'the dead letter has its own payload') from jobs.job as j join held as h on h.id = j.id;
select is_empty('select from jobs.trigger', 'the trigger is used up');

select * from finish();
rollback;

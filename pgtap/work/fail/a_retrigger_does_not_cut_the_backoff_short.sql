begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}') as e;
select is((f.state, f.run_after = jobs.clock() + interval '1 hour')::text, '(pending,t)', 'it fails and waits')
from held as h cross join lateral jobs.fail(h.id, h.claimed_by, 'x', '1 hour') as f;
select is_empty('select from jobs.claim()', 'the trigger does not make it due');
set local test.clock = '2030-01-01 13:00:00+00';
select is((c.payload, c.attempts)::text, '("{""n"": 2}",1)', 'the next attempt sees the new payload') from jobs.claim() as c;
select is_empty('select from jobs.trigger', 'the trigger is used up');

select * from finish();
rollback;

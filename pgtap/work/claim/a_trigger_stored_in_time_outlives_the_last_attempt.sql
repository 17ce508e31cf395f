begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'one attempt is allowed') from jobs.enqueue('k', 'a', '{"n": 1}', max_attempts => 1) as e;
create temp table held as select c.* from jobs.claim(lease => '10 s') as c;
select is(e.outcome, 'retriggered', 'triggered while it runs') from jobs.enqueue('k', 'a', '{"n": 2}') as e;
set local test.clock = '2030-01-01 12:01:00+00';
select is((c.id <> h.id, c.attempts, c.payload)::text, '(t,0,"{""n"": 2}")', 'its lease ends: the trigger gets a fresh job')
from held as h cross join lateral jobs.claim() as c;
select is(j.state, 'failed', 'beside the failed one') from jobs.job as j join held as h on h.id = j.id;
select is_empty('select from jobs.trigger', 'no trigger is left');

select * from finish();
rollback;

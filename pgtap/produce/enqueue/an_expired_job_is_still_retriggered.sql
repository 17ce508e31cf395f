begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim('{k}', lease => '10 s') as c;
set local test.clock = '2030-01-01 12:01:00+00';
select is(e.outcome, 'retriggered', 'its lease is over and nobody has taken it: nothing is lost') from jobs.enqueue('k', 'a', '{"n": 2}') as e;
select is((c.key, c.payload, c.attempts)::text, '(a,"{""n"": 2}",1)', 'the next claim sees the new payload and the lost attempt')
from jobs.claim('{k}') as c;
select is_empty('select from jobs.trigger', 'the trigger is folded in');

select * from finish();
rollback;

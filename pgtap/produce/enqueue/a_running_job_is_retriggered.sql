begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim('{k}') as c;
create temp table was as select j.* from jobs.job as j;
select is((e.id, e.outcome)::text, format('(%s,retriggered)', h.id), 'reset')
from held as h cross join lateral jobs.enqueue('k', 'a', '{"n": 2}', delay => '1 hour') as e;
select is((e.id, e.outcome)::text, format('(%s,retriggered)', h.id), 'earliest')
from held as h cross join lateral jobs.enqueue('k', 'a', on_conflict => 'earliest') as e;
select is((e.id, e.outcome)::text, format('(%s,retriggered)', h.id), 'keep')
from held as h cross join lateral jobs.enqueue('k', 'a', on_conflict => 'keep') as e;
select results_eq('select * from jobs.job', 'select * from was', 'the running job is not touched');
select is(count(*), 3::bigint, 'each is stored beside it') from jobs.trigger as t where t.kind = 'k' and t.key = 'a';
select lives_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'the holder still holds it') from held as h;

select * from finish();
rollback;

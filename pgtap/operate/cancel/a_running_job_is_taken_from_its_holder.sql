begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(jobs.cancel(h.id), 'cancelled', 'cancelled while it runs') from held as h;
select is((j.state, j.finished_at = jobs.clock())::text, '(cancelled,t)', 'at once') from jobs.job as j;
select throws_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'JB001', null, 'its fenced writes are refused') from held as h;
select throws_like(format('select jobs.extend(%s, %L)', h.id, h.claimed_by), '%cancelled%', 'its heartbeat learns why') from held as h;
select is((m.claimed_until, m.cancelled)::text, '(,t)', 'extend_many too') from held as h cross join lateral jobs.extend_many(array[h.id], array[h.claimed_by]) as m;
select is((m.claimed_until, m.cancelled)::text, '(,f)', 'who never held it is told nothing of the kind')
from held as h cross join lateral jobs.extend_many(array[h.id], array[gen_random_uuid()]) as m;
select is(e.outcome, 'inserted', 'the key is free') from jobs.enqueue('k', 'a') as e;

select * from finish();
rollback;

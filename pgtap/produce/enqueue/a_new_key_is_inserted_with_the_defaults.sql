begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'a new key is inserted') from jobs.enqueue('k', 'a') as e;
select is(
    (j.state, j.priority, j.attempts, j.max_attempts, j.payload, j.claimed_by, j.last_error, j.result)::text,
    '(pending,0,0,,,,,)',
    'pending, default priority, no attempt, nothing else'
)
from jobs.job as j where j.kind = 'k' and j.key = 'a';
select is(j.run_after, jobs.clock(), 'due now') from jobs.job as j where j.key = 'a';
select is(j.created_at, jobs.clock(), 'created now') from jobs.job as j where j.key = 'a';
create temp table other as select e.id from jobs.enqueue('k', 'b') as e;
select is(o.id, j.id, 'the id is the job''s') from other as o, jobs.job as j where j.key = 'b';
select is_empty('select from jobs.trigger', 'no trigger is stored');

select * from finish();
rollback;

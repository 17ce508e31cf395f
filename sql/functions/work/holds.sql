-- Promises: whether the claim is live by the real time, and if so keeps the job from being taken until this transaction ends. FOR KEY SHARE lets the heartbeat
-- pass, and every path that takes a job away picks it FOR UPDATE SKIP LOCKED. Under REPEATABLE READ or SERIALIZABLE the lock is FOR SHARE, which
-- raises 40001 if the row changed since the snapshot: the old row must not be believed. Raises 22023, 25006, 40001.
-- Locks: the row; a claim that is lost is refused without waiting.
create or replace function jobs.holds(id bigint, token uuid)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
    return jobs.fence_verdict('holds', holds.id, holds.token) is null;
end;
$$;

comment on function jobs.holds(bigint, uuid) is
'Whether the claim (id, token) is live by the database''s clock; true also keeps the job from being taken until this transaction ends, as jobs.fence does. For a WHERE.
Raises 22023, 25006, and 40001 under REPEATABLE READ or SERIALIZABLE if the row changed since the snapshot.';

-- Promises: raises JB001 unless the claim is live by the real time; from then until this transaction ends nobody can take the job, while its heartbeat and
-- re-triggers pass. Call it in the transaction that writes the result, before the commit. Raises 22023, 25006, 40001, JB001. Locks: the row FOR KEY SHARE.
create or replace function jobs.fence(id bigint, token uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    why constant text := jobs.fence_verdict('fence', fence.id, fence.token);
begin
    if why is not null then
        perform jobs.lost(fence.id, why);
    end if;
end;
$$;

comment on function jobs.fence(bigint, uuid) is
'Guards a transaction that writes under the claim (id, token): raises JB001 unless the claim is live by the database''s clock, and keeps the job from being taken until
the transaction ends. Heartbeats and re-triggers pass meanwhile. Let the error roll the transaction back. Raises 22023, 25006, and 40001 under REPEATABLE READ or
SERIALIZABLE if the row changed since the snapshot.';

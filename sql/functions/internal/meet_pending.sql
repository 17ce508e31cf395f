-- Promises: an enqueue meets the pending job `id`: it is locked until the transaction ends, also if nothing changes (else a worker could claim
-- it, see none of the producer's uncommitted rows, complete, and the wake-up would be lost), and changed as `on_conflict` says.
-- Returns reset or kept; null if another transaction holds the row or it is not pending any more. Never waits.
-- Null as well if this very transaction holds it by claim_tx: that job runs. What is put into its row now would go when complete deletes the
-- row; stored as a trigger it makes the job run once more.
-- A row that was claimed while we reached for it would stay locked until our transaction ends, and with it the heartbeat of its holder: so
-- the lock is taken in a block that is rolled back in that case. Locks the row of the job FOR NO KEY UPDATE.
create or replace function jobs.meet_pending(
    id bigint,
    payload jsonb,
    run_after timestamptz,
    priority smallint,
    max_attempts int,
    on_conflict text
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    j record;
    new_due timestamptz;
begin
    if meet_pending.id = any (jobs.tx_held()) then
        return null;
    end if;
    select m.state, m.run_after, m.payload, m.priority, m.max_attempts into j
    from jobs.job as m where m.id = meet_pending.id
    for no key update skip locked;
    if not found then
        return null;
    end if;
    if j.state <> 'pending' then
        raise exception 'not pending any more' using errcode = 'JB000';
    end if;
    if meet_pending.on_conflict = 'keep' then
        return 'kept';
    end if;
    new_due := case meet_pending.on_conflict
        when 'earliest' then least(j.run_after, meet_pending.run_after) else meet_pending.run_after
    end;
    if new_due = j.run_after
        and coalesce(meet_pending.payload = j.payload, true)
        and coalesce(meet_pending.priority = j.priority, true)
        and coalesce(meet_pending.max_attempts = j.max_attempts, meet_pending.max_attempts is null)
    then
        return 'kept';
    end if;
    update jobs.job as u
    set
        -- behind those that wait in its new lane, and never before the clock: see low_bound
        run_after = case
            when new_due = u.run_after and coalesce(meet_pending.priority = u.priority, true) then new_due
            else greatest(new_due, jobs.clock())
        end,
        payload = coalesce(meet_pending.payload, u.payload),
        priority = coalesce(meet_pending.priority, u.priority),
        max_attempts = coalesce(meet_pending.max_attempts, u.max_attempts)
    where u.id = meet_pending.id;
    return 'reset';
exception
    when sqlstate 'JB000' then
        return null;
end;
$$;

comment on function jobs.meet_pending(bigint, jsonb, timestamptz, smallint, int, text) is
'Locks the pending job and changes it as an enqueue of its key asks: reset, kept, or null if it is held. Internal.';

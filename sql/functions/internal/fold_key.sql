-- Promises: the stored triggers of one key go into its pending job, or into a fresh job if none is live. While the job runs they stay (the end
-- of the run takes them), and so they do while the row or the key is held. Returns whether anything was folded. Never waits.
-- Locks: the gate of the key (tried), then the pending row (skipped if locked), then the triggers.
create or replace function jobs.fold_key(kind text, key text)
returns boolean
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
    t record;
begin
    if not jobs.gate(fold_key.kind, jobs.gate_number(fold_key.key)) then
        return false;
    end if;
    select l.id, l.state, l.run_after into j
    from jobs.job as l
    where l.kind = fold_key.kind and l.key = fold_key.key and l.state in ('pending', 'running');
    if not found then
        select x.* into t from jobs.take_triggers(fold_key.kind, fold_key.key, null) as x;
        if t.taken = 0 then
            return false;
        end if;
        insert into jobs.job (kind, key, payload, run_after, priority, max_attempts, created_at)
        values (
            fold_key.kind, fold_key.key, t.payload, greatest(t.run_after, jobs.clock()), coalesce(t.priority, 0), t.max_attempts, jobs.clock()
        );
        return true;
    end if;
    if j.state = 'running' or jobs.meet_pending(j.id, null, j.run_after, null, null, 'keep') is null then
        return false;
    end if;
    select x.* into t from jobs.take_triggers(fold_key.kind, fold_key.key, j.run_after) as x;
    if t.taken = 0 then
        return false;
    end if;
    update jobs.job as u
    set
        run_after = case
            when t.run_after = u.run_after and coalesce(t.priority = u.priority, true) then u.run_after
            else greatest(t.run_after, jobs.clock())
        end,
        payload = coalesce(t.payload, u.payload),
        priority = coalesce(t.priority, u.priority),
        max_attempts = coalesce(t.max_attempts, u.max_attempts)
    where u.id = j.id;
    return true;
end;
$$;

comment on function jobs.fold_key(text, text) is
'Folds the stored triggers of (kind, key) into its pending job, or a fresh one; false if it could not or there were none. Internal.';

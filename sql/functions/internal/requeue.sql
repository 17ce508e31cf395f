-- Promises: a live job that this transaction holds goes back to pending, due at `due`, its stored triggers folded in.
-- `triggers` says how: 'needed' = only if there is one, at its time (complete); 'met' = as an enqueue meets a pending job (release);
-- 'after' = no earlier than `due` (fail: a re-trigger does not cut the backoff short). Returns the new run_after, null if nothing was done.
-- Locks: the row (held already), then its triggers. The job stays live all the time, so it needs no gate.
create or replace function jobs.requeue(
    job jobs.job,
    due timestamptz,
    attempts int,
    last_error text,
    triggers text
)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    t record;
    new_due timestamptz := requeue.due;
begin
    select 0::bigint as taken, null::timestamptz as run_after, null::jsonb as payload, null::smallint as priority, null::int as max_attempts into t;
    if (requeue.job).key is not null then
        select x.* into t
        from jobs.take_triggers(
            (requeue.job).kind, (requeue.job).key, case when requeue.triggers = 'met' then requeue.due end
        ) as x;
        if t.taken > 0 then
            new_due := case when requeue.triggers = 'after' then greatest(requeue.due, t.run_after) else t.run_after end;
        end if;
    end if;
    if new_due is null then
        return null;
    end if;
    update jobs.job as j
    set
        state = 'pending', run_after = greatest(new_due, jobs.clock()), attempts = requeue.attempts, last_error = requeue.last_error,
        claimed_by = null, claimed_until = null,
        payload = coalesce(t.payload, j.payload),
        priority = coalesce(t.priority, j.priority),
        max_attempts = coalesce(t.max_attempts, j.max_attempts)
    where j.id = (requeue.job).id
    returning j.run_after into new_due;
    return new_due;
end;
$$;

comment on function jobs.requeue(jobs.job, timestamptz, int, text, text) is
'Puts a live job held by this transaction back to pending, with its stored triggers. Internal.';

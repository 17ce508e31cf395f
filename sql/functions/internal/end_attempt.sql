-- Promises: ends a failed attempt of a job that this transaction holds: attempts + 1; pending again at `due` (null = after the kind's backoff),
-- or failed at the last attempt or if `final`. A re-trigger is not lost with the last attempt: a fresh job takes it, at once if the
-- gate of the key is free, otherwise at a later tick. Locks: the row (held), its triggers; tries the gate. Waits for nobody.
create or replace function jobs.end_attempt(
    job jobs.job,
    error text,
    due timestamptz,
    final boolean,
    out state text,
    out run_after timestamptz
)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
set timezone = 'UTC' -- a day is 24 hours in every session
as $$
declare
    policy jobs.kind := jobs.policy((end_attempt.job).kind);
    allowed constant int := coalesce((end_attempt.job).max_attempts, policy.max_attempts);
    struck constant int := (least((end_attempt.job).attempts::bigint + 1, 2147483647))::int;
    at constant timestamptz := jobs.clock();
begin
    if not end_attempt.final and (allowed = 0 or struck < allowed) then
        state := 'pending';
        run_after := jobs.requeue(
            end_attempt.job,
            coalesce(end_attempt.due, at + jobs.backoff(struck, policy.backoff_base, policy.backoff_max, policy.jitter)),
            struck, end_attempt.error, 'after'
        );
        return;
    end if;
    state := 'failed';
    update jobs.job as j
    set
        state = 'failed', attempts = struck, last_error = end_attempt.error, finished_at = at, claimed_by = null, claimed_until = null
    where j.id = (end_attempt.job).id
    returning j.run_after into run_after;
    if (end_attempt.job).key is not null then
        perform jobs.fold_key((end_attempt.job).kind, (end_attempt.job).key);
    end if;
end;
$$;

comment on function jobs.end_attempt(jobs.job, text, timestamptz, boolean) is
'Ends a failed attempt of a job held by this transaction: pending after a wait, or failed. Internal.';

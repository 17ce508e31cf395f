-- Promises: claims the live job of this key if it is due and free (its lease may just have expired). No row otherwise, and none of a paused kind.
-- Raises 22023, 25000, 25006. Locks: as reap and fold_key for this key, then the row FOR UPDATE, skipped if locked. Never waits.
create or replace function jobs.claim_key(kind text, key text, lease interval default null, worker text default null)
returns setof jobs.job
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
set timezone = 'UTC' -- a day is 24 hours in every session
as $$
declare
    at timestamptz;
    j jobs.job;
    policy jobs.kind;
begin
    perform jobs.check_claim('claim_key', 1, claim_key.lease, claim_key.worker);
    if claim_key.kind is null or claim_key.key is null then
        raise exception 'claim_key(): kind and key must be given' using errcode = '22023';
    end if;
    policy := jobs.policy(claim_key.kind);
    if policy.paused then
        return;
    end if;
    at := jobs.clock();
    select l.* into j from jobs.job as l
    where l.kind = claim_key.kind and l.key = claim_key.key and l.state in ('pending', 'running')
    for update skip locked;
    if j.state = 'running' and j.claimed_until <= at then
        perform jobs.end_attempt(
            j, format('lease expired at %s (attempt %s)', j.claimed_until, j.attempts::bigint + 1), at, false
        );
    end if;
    perform jobs.fold_key(claim_key.kind, claim_key.key);
    at := jobs.clock();
    select l.* into j from jobs.job as l
    where l.kind = claim_key.kind and l.key = claim_key.key and l.state in ('pending', 'running')
    for update skip locked;
    if j.id is null or j.state <> 'pending' or j.run_after > at or jobs.set_aside(array[j.id]) > 0 then
        return;
    end if;
    return query
    update jobs.job as u
    set
        state = 'running', claimed_by = gen_random_uuid(), claimed_at = at, epoch = nextval('jobs.epoch'), worker = claim_key.worker,
        claimed_until = greatest(at + coalesce(claim_key.lease, policy.lease), jobs.clock())
    where u.id = j.id
    returning u.*;
end;
$$;

comment on function jobs.claim_key(text, text, interval, text) is
'Claims the live job of this kind and key if it is due and free: one row or none. lease: null = the kind''s. worker: a label.
For work done at once on request, and for a lock made of a job. Raises 22023; 25000 under REPEATABLE READ or SERIALIZABLE; 25006 if read-only.';

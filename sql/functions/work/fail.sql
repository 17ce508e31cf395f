-- Promises: ends the attempt of a live claim as failed: attempts + 1, last_error, and pending again after `retry_in` or the kind's backoff; failed at
-- the last attempt or if `final`. A re-trigger that came while it ran is not lost in either case. Raises 22023, 25006, JB001.
-- Locks: the row, its stored triggers; at the last attempt tries the gate of the key.
create or replace function jobs.fail(id bigint, token uuid, error text, retry_in interval default null, final boolean default false)
returns table (state text, run_after timestamptz)
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
#variable_conflict use_column
declare
    j jobs.job;
    said text := coalesce(fail.error, 'no error text given');
begin
    if not isfinite(fail.retry_in) or fail.retry_in < interval '0 s' or extract(epoch from fail.retry_in) > 3155760000 then
        raise exception 'fail(): retry_in must be between 0 and 100 years, not %', fail.retry_in using errcode = '22023';
    end if;
    j := jobs.hold('fail', fail.id, fail.token);
    if length(said) > 8000 then
        said := left(said, 7900) || format(' [cut: the error had %s characters]', length(said));
    end if;
    return query
    select e.state, e.run_after
    from jobs.end_attempt(j, said, jobs.clock() + fail.retry_in, coalesce(fail.final, false)) as e;
end;
$$;

comment on function jobs.fail(bigint, uuid, text, interval, boolean) is
'Ends the attempt of the claim (id, token) as failed. error: kept to 8,000 characters, longer ones are cut and say so. retry_in: wait until the next attempt,
0 to 100 years; null = the kind''s backoff, least(backoff_max, backoff_base * 2^(attempts-1)) with jitter. final: no further attempt.
Returns (state, run_after): pending and when, or failed. A job that was triggered while it ran its last attempt also gets a fresh pending job.
Raises JB001 if the claim is lost, 22023, 25006.';

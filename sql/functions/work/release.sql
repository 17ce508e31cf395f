-- Promises: gives a live claim back, no attempt counted: pending after `delay`, behind the jobs already due; with `progress` the attempts start again.
-- Raises 22023, 25006, JB001. Locks: the row, its stored triggers.
create or replace function jobs.release(id bigint, token uuid, delay interval default '0 s', progress boolean default false)
returns void
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
    j jobs.job;
begin
    if release.delay is null or not isfinite(release.delay) or release.delay < interval '0 s' or extract(epoch from release.delay) > 3155760000
    then
        raise exception 'release(): delay must be between 0 and 100 years, not %', coalesce(release.delay::text, 'null')
            using errcode = '22023';
    end if;
    j := jobs.hold('release', release.id, release.token);
    perform jobs.requeue(
        j, jobs.clock() + release.delay, case when release.progress then 0 else j.attempts end, j.last_error, 'met'
    );
end;
$$;

comment on function jobs.release(bigint, uuid, interval, boolean) is
'Gives the claim (id, token) back without counting an attempt (snooze, shutdown). delay: 0 to 100 years from now. progress: a bounded batch is done and more
remains, so attempts start again at 0. Raises JB001 if the claim is lost, 22023, 25006.';

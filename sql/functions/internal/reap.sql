-- Promises: ends the attempts of up to `most` jobs whose lease has expired; a job that a transaction holds (a fence) is passed over. One that
-- raises is set aside with a warning that names it; the others go on. Returns how many ended. Locks the rows, oldest lease first, never
-- waiting; then as end_attempt. `kinds`: only jobs of these. `before`: only leases that ended by then. `since`: the
-- entries of the index before this instant are known to be dead.
create or replace function jobs.reap(most int, kinds text[] default null, before timestamptz default null, since timestamptz default '-infinity')
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    j jobs.job;
    at constant timestamptz := jobs.clock();
    reaped bigint := 0;
begin
    for j in
        select r.* from jobs.job as r
        where
            r.state = 'running' and r.claimed_until <= least(at, reap.before) and r.claimed_until >= reap.since
            and (reap.kinds is null or r.kind = any (reap.kinds))
        order by r.claimed_until
        limit reap.most
        for update skip locked
    loop
        begin
            perform jobs.end_attempt(
                j,
                format(
                    'lease expired at %s: the worker%s died, hung, or lost its connection (attempt %s)',
                    j.claimed_until, coalesce(' ' || j.worker, ''), j.attempts::bigint + 1
                ),
                at, false
            );
            reaped := reaped + 1;
        exception
            when others then
                raise warning 'expired job % was set aside: % (%)', j.id, sqlerrm, sqlstate;
        end;
    end loop;
    return reaped;
end;
$$;

comment on function jobs.reap(int, text[], timestamptz, timestamptz) is
'Ends the attempts of up to "most" jobs with an expired lease; returns how many. Internal.';

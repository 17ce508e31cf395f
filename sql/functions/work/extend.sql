-- Promises: a live claim gets a full lease from now. Never waits (see extend_many). A transaction lease needs none: null. Raises 22023, 25006, JB001.
-- Locks: the row FOR NO KEY UPDATE, unless it is locked.
create or replace function jobs.extend(id bigint, token uuid, lease interval default null)
returns timestamptz
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
    until timestamptz;
    why text;
begin
    if extend.id is null or extend.token is null then
        raise exception 'extend(): id and token must be given, as jobs.claim() returned them (id, claimed_by)' using errcode = '22023';
    end if;
    select e.claimed_until into until
    from jobs.extend_many(array[extend.id], array[extend.token], extend.lease) as e;
    if until is null then
        select jobs.verdict(extend.id, extend.token, j.state, j.claimed_by, j.claimed_until, jobs.clock()) into why
        from (select 1) as one
        left join jobs.job as j on j.id = extend.id;
        if why is not null then
            perform jobs.lost(extend.id, why);
        end if;
    end if;
    return until;
end;
$$;

comment on function jobs.extend(bigint, uuid, interval) is
'Heartbeat: the claim (id, token) gets a full lease from now. lease: longer than 0, at most 7 days; null = the kind''s. Returns the new claimed_until (null for a
transaction lease). Only a live claim can be extended: raises JB001 if it is lost, 22023, 25006. Never waits.';

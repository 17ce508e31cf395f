-- The check of fence and holds: null if the claim is live (the row is then locked until the transaction ends), else the reason. Raises 22023, 25006, 40001.
-- Locks: the row FOR KEY SHARE (FOR SHARE where the snapshot is old); not at all if the claim is seen to be lost.
create or replace function jobs.fence_verdict(verb text, id bigint, token uuid)
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
    why text;
begin
    if fence_verdict.id is null or fence_verdict.token is null then
        raise exception '%(): id and token must be given, as jobs.claim() returned them (id, claimed_by)', fence_verdict.verb
            using errcode = '22023';
    end if;
    perform jobs.guard(fence_verdict.verb, false);
    select r.state, r.claimed_by, r.claimed_until into j from jobs.job as r where r.id = fence_verdict.id;
    why := jobs.verdict(fence_verdict.id, fence_verdict.token, j.state, j.claimed_by, j.claimed_until, jobs.clock());
    if why is not null then
        return why;
    end if;
    if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
        select r.state, r.claimed_by, r.claimed_until into j from jobs.job as r where r.id = fence_verdict.id for share;
    else
        select r.state, r.claimed_by, r.claimed_until into j from jobs.job as r where r.id = fence_verdict.id for key share;
    end if;
    return jobs.verdict(fence_verdict.id, fence_verdict.token, j.state, j.claimed_by, j.claimed_until, jobs.clock());
end;
$$;

comment on function jobs.fence_verdict(text, bigint, uuid) is
'Null if the claim is live, whose row is then locked against being taken until the transaction ends; else why it is lost. Internal.';

-- Promises: the row of a live claim, locked FOR UPDATE, or JB001. A claim that is lost is refused without waiting; the holder waits only for
-- its own other transactions (a fence, a heartbeat). Raises 22023, 25006, JB001. Locks the row of the job.
create or replace function jobs.hold(verb text, id bigint, token uuid)
returns jobs.job
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
    why text;
begin
    if hold.id is null or hold.token is null then
        raise exception '%(): id and token must be given, as jobs.claim() returned them (id, claimed_by)', hold.verb
            using errcode = '22023';
    end if;
    perform jobs.guard(hold.verb, false);
    select job.* into j from jobs.job where job.id = hold.id for update skip locked;
    if not found then
        select job.* into j from jobs.job where job.id = hold.id;
        why := jobs.verdict(hold.id, hold.token, j.state, j.claimed_by, j.claimed_until, jobs.clock());
        if why is null then
            select job.* into j from jobs.job where job.id = hold.id for update;
        end if;
    end if;
    if why is null then
        why := jobs.verdict(hold.id, hold.token, j.state, j.claimed_by, j.claimed_until, jobs.clock());
    end if;
    if why is not null then
        perform jobs.lost(hold.id, why);
    end if;
    return j;
end;
$$;

comment on function jobs.hold(text, bigint, uuid) is
'The row of the live claim (id, token), locked until the transaction ends; raises JB001 if it is lost. Internal.';

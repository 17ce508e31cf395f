-- The housekeeping that rides along with a claim. Promises: at most once per 100 ms in the whole cluster (or now, if `eager` and there is
-- something to do) it ends expired leases, looks at stored triggers (where the last tick stopped) and folds them, looks after new
-- subscriptions and what advances left to delete, and every 16th time prunes; a bounded amount each. Returns whether a job may have become
-- claimable. Who ticks has an advisory lock until its transaction ends; should that stay open, the others go on after a second.
-- Waits for nobody. Locks: the advisory lock of the tick (tried), then as reap, fold, settle, prune_noted, prune.
create or replace function jobs.tend(eager boolean)
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
    last record;
    now_is constant timestamptz := jobs.clock();
    this bigint;
    moved bigint;
    looked record;
begin
    select t.id, t.at, t.kind, t.key into last from jobs.tick as t order by t.id desc limit 1;
    if last.at > now_is - interval '100 ms' and last.at <= now_is then
        if not tend.eager
            or not (
                exists (select from jobs.trigger)
                or exists (select from jobs.job as j where j.state = 'running' and j.claimed_until <= now_is)
            )
        then
            return false;
        end if;
    end if;
    if not pg_try_advisory_xact_lock(1785684595, 1) and last.at > now_is - interval '1 s' and last.at <= now_is then
        return false;
    end if;
    moved := jobs.reap(100);
    select f.kind, f.key, f.folded into looked from jobs.fold(1000, last.kind, last.key) as f;
    moved := moved + looked.folded;
    insert into jobs.tick (at, kind, key) values (now_is, looked.kind, looked.key) returning tick.id into this;
    if exists (select from jobs.subscription as s where s.awaits is not null) then
        moved := moved + jobs.settle();
    end if;
    if exists (select from jobs.unpruned) then
        perform jobs.prune_noted(100);
    end if;
    if this % 16 = 0 then
        perform jobs.prune(1000);
        delete from jobs.tick as d
        where d.ctid = any (array(
            select t.ctid from jobs.tick as t where t.id between this - 64 and this - 16 for update skip locked
        ));
    end if;
    return moved > 0;
end;
$$;

comment on function jobs.tend(boolean) is
'Bounded housekeeping, at most once per 100 ms over all sessions; true if a job may have become claimable. Internal.';

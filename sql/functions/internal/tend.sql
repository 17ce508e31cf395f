-- The housekeeping that rides along with a claim. Promises: at most once per 100 ms in the whole cluster (or now, if `eager` and there is
-- something to do) it ends expired leases, looks at stored triggers (from where the last tick stopped), moves the marks of the lanes (once a minute:
-- checks them against all rows), tells new subscribers what they missed, and every 16th time prunes; a bounded amount each. Returns whether a
-- job may have become claimable. Who ticks has an advisory lock until its transaction ends; should that stay open, the others go on after a second.
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
    since timestamptz;
    claims bigint;
    sweep boolean;
    bound timestamptz;
    first timestamptz;
    this bigint;
    moved bigint;
    looked record;
begin
    select t.id, t.at, t.claims, t.leases_from, t.swept_at, t.kind, t.key into last from jobs.tick as t order by t.id desc limit 1;
    since := case when last.leases_from <= now_is then last.leases_from else '-infinity' end;
    if last.at > now_is - interval '100 ms' and last.at <= now_is then
        if not tend.eager
            or not (
                exists (select from jobs.trigger)
                or exists (
                    select from jobs.job as j
                    where j.state = 'running' and j.claimed_until <= now_is and j.claimed_until >= since
                )
            )
        then
            return false;
        end if;
    end if;
    if not pg_try_advisory_xact_lock(1785684595, 1) and last.at > now_is - interval '1 s' and last.at <= now_is then
        return false;
    end if;
    sweep := coalesce(last.swept_at not between now_is - interval '1 minute' and now_is, true);
    if sweep then
        since := '-infinity';
    end if;
    moved := jobs.reap(100, since => since);
    select f.kind, f.key, f.folded into looked from jobs.fold(1000, last.kind, last.key) as f;
    moved := moved + looked.folded;
    -- the marks: where nothing was claimed since they were moved, they are where they should be
    select e.last_value into claims from jobs.epoch as e;
    if sweep or claims is distinct from last.claims or last.at > now_is then
        bound := jobs.low_bound();
        perform jobs.move_cursor(bound, sweep, coalesce(last.id, 0));
        first := (
            select r.claimed_until from jobs.job as r
            where r.state = 'running' and r.claimed_until >= since
            order by r.claimed_until limit 1
        );
        if bound is null then
            since := case when sweep then least(first, coalesce(last.leases_from, '-infinity')) else since end;
        else
            since := greatest(least(first, bound), since);
        end if;
    end if;
    insert into jobs.tick (at, kind, key, claims, leases_from, swept_at)
    values (now_is, looked.kind, looked.key, claims, since, case when sweep then now_is else last.swept_at end)
    returning tick.id into this;
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

-- Promises: the housekeeping in full, now: the marks of the lanes, expired leases, stored triggers, jobs out of attempts, rows of
-- streams that nobody was told of, pruning. Raises 25000, 25006.
-- Locks: as reap, fold, set_aside, settle, prune, prune_noted. Never waits.
create or replace function jobs.maintain()
returns table (what text, jobs bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    n bigint;
    total bigint;
    looked record;
begin
    perform jobs.guard('maintain', true);
    perform jobs.move_cursor(jobs.low_bound(), true, 0);
    total := 0;
    loop
        n := jobs.reap(1000);
        total := total + n;
        exit when n = 0;
    end loop;
    return query select 'expired', total;
    total := 0;
    select null::text as kind, null::text as key into looked;
    loop
        select f.kind, f.key, f.folded into looked from jobs.fold(1000, looked.kind, looked.key) as f;
        total := total + looked.folded;
        exit when looked.kind is null;
    end loop;
    return query select 'folded', total;
    return query
    select 'set aside', jobs.set_aside(array(
        select j.id from jobs.job as j
        left join jobs.kind as k on k.kind = j.kind
        where j.state = 'pending' and j.attempts >= coalesce(nullif(coalesce(j.max_attempts, k.max_attempts, 20), 0), 2147483647)
        order by j.id
        for update of j skip locked
    ));
    total := jobs.settle();
    total := total + coalesce((select sum(jobs.replay(s.kind, true)) from jobs.subscription as s), 0)::bigint;
    return query select 'replayed', total;
    total := 0;
    loop
        n := jobs.prune(1000);
        total := total + n;
        exit when n = 0;
    end loop;
    return query select 'pruned', total;
    loop
        exit when jobs.prune_noted(1000) = 0;
    end loop;
end;
$$;

comment on function jobs.maintain() is
'Does the housekeeping in full, now: one row each for expired (leases), folded (stored triggers), set aside (out of attempts, failed), replayed (keys of
streams with unread rows and no job; not those whose job failed or was cancelled) and pruned, with the number of jobs. Also deletes handled rows of the outbox. Claims do a bounded part of it by themselves. Raises 25000 under REPEATABLE READ or SERIALIZABLE, 25006.';

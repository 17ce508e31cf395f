-- Promises: deletes up to `most` finished jobs that are older than their kind keeps them (keep_done; keep_failed for failed and cancelled).
-- Returns how many. Locks the rows it deletes, never waiting.
create or replace function jobs.prune(most int)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
set timezone = 'UTC' -- a day is 24 hours in every session
as $$
declare
    k record;
    at constant timestamptz := jobs.clock();
    old bigint[];
    one bigint;
    gone bigint;
    pruned bigint := 0;
begin
    for k in
        with recursive kept (kind, state) as (
            (
                select j.kind, j.state from jobs.job as j
                where j.state in ('done', 'failed', 'cancelled')
                order by j.kind, j.state limit 1
            )
            union all
            select n.kind, n.state
            from kept as s
            cross join lateral (
                select j.kind, j.state from jobs.job as j
                where j.state in ('done', 'failed', 'cancelled') and (j.kind, j.state) > (s.kind, s.state)
                order by j.kind, j.state
                limit 1
            ) as n
        )
        select s.kind, s.state, jobs.policy(s.kind) as policy from kept as s
    loop
        old := array(
            select j.id from jobs.job as j
            where
                j.state in ('done', 'failed', 'cancelled') and j.kind = k.kind and j.state = k.state
                and j.finished_at <= at - case when k.state = 'done' then coalesce((k.policy).keep_done, '0 s') else (k.policy).keep_failed end
            order by j.finished_at
            limit greatest(prune.most - pruned, 0)
            for update skip locked
        );
        begin
            delete from jobs.job as d where d.id = any (old);
            get diagnostics gone = row_count;
        exception
            when others then
                -- one of them may not go (a trigger or a foreign key of the user's own): set it aside, delete the others
                gone := 0;
                foreach one in array old loop
                    begin
                        delete from jobs.job as d where d.id = one;
                        gone := gone + 1;
                    exception
                        when others then
                            raise warning 'finished job % could not be deleted: % (%)', one, sqlerrm, sqlstate;
                    end;
                end loop;
        end;
        pruned := pruned + gone;
    end loop;
    return pruned;
end;
$$;

comment on function jobs.prune(int) is 'Deletes up to "most" finished jobs that are older than their kind keeps them; returns how many. Internal.';

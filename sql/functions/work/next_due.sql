-- Promises: the time until the next pending job of these kinds is due; paused kinds are passed over. Raises nothing, locks nothing.
create or replace function jobs.next_due(kinds text[] default null)
returns interval
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
    wanted text[] := next_due.kinds;
    earliest timestamptz;
begin
    if wanted is null then
        wanted := array(
            with recursive present (kind) as (
                (select j.kind from jobs.job as j where j.state = 'pending' order by j.kind limit 1)
                union all
                select n.kind
                from present as p
                cross join lateral (
                    select j.kind from jobs.job as j where j.state = 'pending' and j.kind > p.kind order by j.kind limit 1
                ) as n
            )
            select p.kind from present as p
        );
    end if;
    with recursive lane (kind, priority, run_after) as (
        select w.kind, f.priority, f.run_after
        from unnest(wanted) as w (kind)
        cross join lateral (
            select j.priority, j.run_after from jobs.job as j
            where j.state = 'pending' and j.kind = w.kind
            order by j.kind, j.priority, j.run_after
            limit 1
        ) as f
        where not exists (select from jobs.kind as k where k.kind = w.kind and k.paused)
        union all
        select l.kind, n.priority, n.run_after
        from lane as l
        cross join lateral (
            select j.priority, j.run_after from jobs.job as j
            where j.state = 'pending' and j.kind = l.kind and j.priority > l.priority
            order by j.kind, j.priority, j.run_after
            limit 1
        ) as n
    )
    select min(l.run_after) into earliest from lane as l;
    return greatest(earliest - jobs.clock(), case when earliest is not null then interval '0 s' end);
end;
$$;

comment on function jobs.next_due(text[]) is
'Time until the next pending job of the kinds (null = every kind; paused ones are passed over) is due: 0 = now, null = there is none. A worker sleeps that long.';

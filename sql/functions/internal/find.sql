-- Promises: ids of up to `most` jobs that are due at the instant `at`: lowest priority number first, then run_after, then id, over all the kinds
-- given that are not paused (null = every kind), without those in `but`. Nothing is locked: who takes them looks again.
-- Each lane (kind, priority) is one stretch of the index job_due. The lanes are found by stepping through that index, each is read as far as it can
-- matter, and what they give is merged.
create or replace function jobs.find(
    kinds text[],
    most int,
    at timestamptz,
    but bigint[]
)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    wanted text[] := find.kinds;
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
    return array(
        with recursive lane (kind, priority) as (
            select f.kind, f.priority
            from (
                select distinct u.kind from unnest(wanted) as u (kind)
                where not exists (select from jobs.kind as k where k.kind = u.kind and k.paused)
            ) as w
            cross join lateral (
                select j.kind, j.priority from jobs.job as j
                where j.state = 'pending' and j.kind = w.kind
                order by j.kind, j.priority
                limit 1
            ) as f
            union all
            select n.kind, n.priority
            from lane as l
            cross join lateral (
                select j.kind, j.priority from jobs.job as j
                where j.state = 'pending' and j.kind = l.kind and j.priority > l.priority
                order by j.kind, j.priority
                limit 1
            ) as n
        )
        select c.id
        from lane as l
        cross join lateral (
            select j.id, j.run_after from jobs.job as j
            where
                j.state = 'pending' and j.kind = l.kind and j.priority = l.priority and j.run_after <= find.at
                and j.id <> all (find.but)
            order by j.run_after, j.id
            limit find.most
        ) as c
        order by l.priority, c.run_after, c.id
        limit find.most
    );
end;
$$;

comment on function jobs.find(text[], int, timestamptz, bigint[]) is
'Ids of up to "most" due jobs of the kinds in the order they are to run, without those in "but"; locks nothing. Internal.';

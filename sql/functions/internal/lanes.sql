-- Promises: the lanes (kind, priority) of the kinds given that may hold pending jobs (null = every kind; paused ones are left out), each with the
-- mark before which it has none. Known lanes come from jobs.cursor, one step of its index each; what lies between two known lanes is
-- looked up in job_due, so a lane without a mark is found too and is read from its beginning. A mark ahead of the clock (which stepped back) is not used.
-- Neither look reads entries of jobs that were taken: those lie before the marks. Raises nothing, locks nothing.
create or replace function jobs.lanes(kinds text[], at timestamptz)
returns table (kind text, priority smallint, low_at timestamptz, low_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    wanted text[] := lanes.kinds;
begin
    if wanted is null then
        wanted := array(
            with recursive present (kind) as (
                select ''
                union all
                select n.kind
                from present as p
                cross join lateral (
                    select coalesce(
                        (
                            select j.kind from jobs.job as j
                            where k.kind is not null and j.state = 'pending' and j.kind > p.kind and j.kind < k.kind
                            order by j.kind limit 1
                        ),
                        (
                            select j.kind from jobs.job as j
                            where k.kind is null and j.state = 'pending' and j.kind > p.kind
                            order by j.kind limit 1
                        ),
                        k.kind
                    ) as kind
                    from (select (select c.kind from jobs.cursor as c where c.kind > p.kind order by c.kind limit 1) as kind) as k
                ) as n
                where n.kind is not null
            )
            select p.kind from present as p where p.kind <> ''
        );
    end if;
    return query
    with recursive lane (kind, priority, low_at, low_id) as (
        select w.kind, -32769, null::timestamptz, null::bigint
        from (
            select distinct u.kind from unnest(wanted) as u (kind)
            where not exists (select from jobs.kind as k where k.kind = u.kind and k.paused)
        ) as w
        union all
        select l.kind, n.priority, n.low_at, n.low_id
        from lane as l
        cross join lateral (
            select s.priority, s.low_at, s.low_id
            from (
                select
                    coalesce(u.priority, c.priority)::int as priority,
                    case when u.priority is null and c.run_after <= lanes.at then c.run_after else '-infinity' end as low_at,
                    case when u.priority is null and c.run_after <= lanes.at then c.id else 0 end as low_id
                from (select 1) as one
                left join lateral (
                    select x.priority, x.run_after, x.id from jobs.cursor as x
                    where x.kind = l.kind and x.priority > l.priority
                    order by x.priority, x.tick desc
                    limit 1
                ) as c on true
                left join lateral (
                    select j.priority from jobs.job as j
                    where j.state = 'pending' and j.kind = l.kind and j.priority > l.priority and j.priority < coalesce(c.priority, 32768)
                    order by j.priority
                    limit 1
                ) as u on true
            ) as s
            where s.priority is not null
        ) as n
    )
    select l.kind, l.priority::smallint, l.low_at, l.low_id from lane as l where l.priority > -32769;
end;
$$;

comment on function jobs.lanes(text[], timestamptz) is
'The lanes (kind, priority) that may hold pending jobs of the kinds, each with the mark before which it has none. Internal.';

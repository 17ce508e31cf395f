-- Promises: ids of up to `most` jobs that are due at the instant `at`: lowest priority number first, then run_after, then id, over all the kinds
-- given that are not paused (null = every kind), without those in `but`. Nothing is locked: who takes them looks again.
-- Each lane (kind, priority) is one stretch of the index job_due; it is read from its mark (see lanes) as far as it can matter, and what the lanes give is
-- merged.
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
begin
    return array(
        select c.id
        from jobs.lanes(find.kinds, find.at) as l
        cross join lateral (
            select j.id, j.run_after from jobs.job as j
            where
                j.state = 'pending' and j.kind = l.kind and j.priority = l.priority and j.run_after <= find.at
                and (j.run_after, j.id) >= (l.low_at, l.low_id)
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

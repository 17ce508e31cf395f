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
    earliest timestamptz;
begin
    select min(f.run_after) into earliest
    from jobs.lanes(next_due.kinds, jobs.clock()) as l
    cross join lateral (
        select j.run_after from jobs.job as j
        where
            j.state = 'pending' and j.kind = l.kind and j.priority = l.priority
            and (j.run_after, j.id) >= (l.low_at, l.low_id)
        order by j.run_after, j.id
        limit 1
    ) as f;
    return greatest(earliest - jobs.clock(), case when earliest is not null then interval '0 s' end);
end;
$$;

comment on function jobs.next_due(text[]) is
'Time until the next pending job of the kinds (null = every kind; paused ones are passed over) is due: 0 = now, null = there is none. A worker sleeps that long.';

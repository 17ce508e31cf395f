-- Promises: brings the marks of all lanes up to where their pending jobs begin, never past `bound` (see low_bound; the rows are read by
-- statements that begin after it was taken). With `sweep` each lane is read from its very beginning: that finds what a restore or a hand-made
-- UPDATE put below a mark, and lowers the mark. A mark ahead of the clock is lowered too. Returns how many marks moved.
-- bound null: marks are only lowered. turn: number of the tick; of many lanes without due jobs some are looked after at each.
-- Locks: rows of jobs.cursor that it deletes, never waiting.
create or replace function jobs.move_cursor(bound timestamptz, sweep boolean, turn bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    at constant timestamptz := jobs.clock();
    lane record;
    first record;
    last record;
    moved bigint := 0;
begin
    for lane in
        select l.kind, l.priority, l.low_at, l.low_id, row_number() over () as n, count(*) over () as lanes
        from jobs.lanes(null, at) as l
    loop
        select j.run_after, j.id into first
        from jobs.job as j
        where
            j.state = 'pending' and j.kind = lane.kind and j.priority = lane.priority
            and (j.run_after, j.id) >= (
                case when move_cursor.sweep then '-infinity' else lane.low_at end, case when move_cursor.sweep then 0 else lane.low_id end
            )
        order by j.run_after, j.id
        limit 1;
        if move_cursor.bound is null and first.run_after is null then
            continue;
        end if;
        if first.run_after is null or first.run_after >= move_cursor.bound then
            -- nothing due: of many such lanes some sixteen at a time
            continue when lane.lanes > 16 and not move_cursor.sweep and (lane.n + move_cursor.turn) % (lane.lanes / 16) <> 0;
            first.run_after := move_cursor.bound;
            first.id := 0;
        end if;
        select c.run_after, c.id, c.tick into last
        from jobs.cursor as c
        where c.kind = lane.kind and c.priority = lane.priority
        order by c.tick desc
        limit 1;
        if (last.tick is null and move_cursor.bound is not null)
            or ((first.run_after, first.id) > (last.run_after, last.id) and move_cursor.bound is not null)
            or (
                (first.run_after, first.id) < (last.run_after, last.id)
                and (move_cursor.sweep or last.run_after > at)
            )
        then
            insert into jobs.cursor (kind, priority, run_after, id) values (lane.kind, lane.priority, first.run_after, first.id);
            delete from jobs.cursor as d
            where d.ctid = any (array(
                select c.ctid from jobs.cursor as c
                where c.kind = lane.kind and c.priority = lane.priority and c.tick <= last.tick
                order by c.tick desc
                limit 10
                for update skip locked
            ));
            moved := moved + 1;
        end if;
    end loop;
    return moved;
end;
$$;

comment on function jobs.move_cursor(timestamptz, boolean, bigint) is
'Moves the marks of the lanes up to where their pending jobs begin, at most to the bound; returns how many moved. Internal.';

-- Promises: up to which seq the rows of a stream and key can be read now, by a statement that begins after this one: below it no row can appear
-- any more. A transaction that has nothing to do with this key delays nobody. Locks nothing; one look at pg_locks is one instant.
-- Proof. A producer locks floor and key before it draws a number, the floor being a number given out earlier (enter_outbox). We read the last number
-- given out first, then look at the locks. A producer that locks after our look draws more than that. One that locked before is seen, and draws more
-- than its floor; or it has ended: locks go after the commit is visible, so that our caller's later snapshot has its rows. Our own
-- transaction does not count: its rows are visible to us, and what it will draw comes after the last number.
-- A holder of the key whose floor is not seen beside it is ending, or being prepared, which moves its locks one by one to an entry without a pid (several
-- of these can share one virtualtransaction): then the lowest of all floors counts.
create or replace function jobs.horizon(stream text, key text)
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
    last constant bigint := jobs.last_seq();
    lowest bigint;
begin
    with look as materialized (
        select l.pid, l.virtualtransaction, l.classid, l.objid::bigint as object
        from pg_locks as l
        where
            l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.classid in (1785684601::oid, 1785684602::oid)
            and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    ),

    floors as (
        select f.pid, f.virtualtransaction, last - (((last - f.object + 2147483648) & 4294967295) - 2147483648) as floor
        from look as f
        where f.classid = 1785684601::oid
    )

    select min(coalesce(
        (select min(f.floor) from floors as f where k.pid is not null and f.virtualtransaction = k.virtualtransaction),
        (select min(f.floor) from floors as f)
    ))
    into lowest
    from look as k
    where
        k.classid = 1785684602::oid and k.pid is distinct from pg_backend_pid()
        and k.object in (
            hashtextextended(horizon.key, hashtextextended(horizon.stream, 0)) & 4294967295,
            hashtextextended(horizon.stream, 0) & 4294967295,
            0
        );
    return least(last, lowest);
end;
$$;

comment on function jobs.horizon(text, text) is
'Highest seq up to which rows of this stream and key can be read in order by a later statement: none below it can appear any more. Internal.';

-- Promises: the lowest floor of all transactions that have begun to publish, this one among them, null if there is none. `last`: a number that
-- the outbox has given out, read before. Locks nothing.
create or replace function jobs.oldest_floor(last bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
    return (
        select min(oldest_floor.last - (((oldest_floor.last - l.objid::bigint + 2147483648) & 4294967295) - 2147483648))
        from pg_locks as l
        where
            l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.classid = 1785684601::oid
            and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    );
end;
$$;

comment on function jobs.oldest_floor(bigint) is 'Lowest floor of all transactions that publish, null if there is none. Internal.';

-- Promises: an instant before which no pending job can still appear, and no lease can still end, other than what a statement that begins after
-- this call sees; null if that cannot be told. The argument:
-- whoever makes a job pending or sets a lease holds RowExclusiveLock on jobs.job before the statement that does it reads the clock. So with t0 read
-- first and then the locks: a transaction that locks after we look reads the clock after t0; one that had ended when we looked has its rows seen
-- by every later statement; one that holds the lock has begun at xact_start, and its clock readings lie after that. The transaction that calls
-- is left out: it sees its own rows, and what it does later is after t0.
-- A session whose start we may not see (no pg_read_all_stats, track_activities off) and a prepared transaction (no pid) give null.
create or replace function jobs.low_bound()
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    t0 constant timestamptz := jobs.clock();
    unknown boolean;
    oldest timestamptz;
begin
    perform pg_stat_clear_snapshot();
    select
        bool_or(l.pid is null or (a.pid is not null and (a.state is null or a.state = 'disabled'))),
        min(a.xact_start)
    into unknown, oldest
    from pg_locks as l
    left join pg_stat_get_activity(null) as a on a.pid = l.pid
    where
        l.locktype = 'relation' and l.relation = 'jobs.job'::regclass
        and l.database = (select d.oid from pg_database as d where d.datname = current_database())
        and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
        and l.granted and l.pid is distinct from pg_backend_pid();
    if unknown then
        return null;
    end if;
    return least(t0, oldest);
end;
$$;

comment on function jobs.low_bound() is
'An instant before which no pending job can still appear; null if a transaction that might add one cannot be judged. Internal.';

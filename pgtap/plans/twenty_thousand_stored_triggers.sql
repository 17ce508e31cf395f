begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

-- fresh files, without the dead entries that other transactions have left
truncate jobs.job, jobs.trigger;

-- what a call reads: rows by sequential scans and entries of every index of jobs.job and jobs.trigger; null if it returns no row
create function pg_temp.entries() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_tuples_returned(c.oid))::bigint
    from pg_class as c
    where c.oid in ('jobs.job'::regclass, 'jobs.trigger'::regclass)
        or c.oid in (select i.indexrelid from pg_index as i where i.indrelid in ('jobs.job'::regclass, 'jobs.trigger'::regclass));
$$;
create function pg_temp.seq_scans() returns bigint language sql volatile as $$
    select pg_stat_get_xact_numscans('jobs.job'::regclass) + pg_stat_get_xact_numscans('jobs.trigger'::regclass);
$$;
create function pg_temp.read_by(call text) returns bigint language plpgsql volatile as $$
declare
    before constant bigint := pg_temp.entries();
    n bigint;
begin
    execute read_by.call;
    get diagnostics n = row_count;
    return case when n > 0 then pg_temp.entries() - before end;
end;
$$;
create temp table held (id bigint, token uuid, kind text, key text, place int generated always as identity);
create temp table scans (n bigint);
analyze jobs.trigger;
insert into jobs.job (kind, key, priority, run_after, created_at)
select (array['a', 'b', 'c'])[1 + n % 3], n::text, n % 7 / 3, jobs.clock() - interval '1 hour' + n * interval '1 millisecond', jobs.clock()
from generate_series(1, 2000) as n;
insert into held (id, token, kind, key) select c.id, c.claimed_by, c.kind, c.key from jobs.claim(batch => 10) as c;
insert into jobs.trigger (kind, key, run_after, on_conflict, created_at)
select 'a', 'elsewhere ' || n, jobs.clock(), 'reset', jobs.clock() from generate_series(1, 20000) as n;
-- the housekeeping of this instant has been done
select is_empty($$ select from jobs.claim('{none}') $$, 'it has ticked');
insert into scans select pg_temp.seq_scans();
select cmp_ok(pg_temp.read_by($$ select jobs.enqueue(h.kind, h.key) from held as h where h.place = 1 $$), '<', 500::bigint, 'enqueue of a running key');
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h where h.place = 1 $$), '<', 500::bigint, 'complete of a retriggered job');
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h where h.place = 2 $$), '<', 500::bigint, 'complete');
select cmp_ok(pg_temp.read_by($$ select jobs.fail(h.id, h.token, 'x') from held as h where h.place = 3 $$), '<', 500::bigint, 'fail');
select cmp_ok(pg_temp.read_by($$ select jobs.release(h.id, h.token) from held as h where h.place = 4 $$), '<', 500::bigint, 'release');
select cmp_ok(pg_temp.read_by($$ select jobs.enqueue('a', 'new') $$), '<', 500::bigint, 'enqueue of a new key');
select is(pg_temp.seq_scans() - s.n, 0::bigint, 'no call has read a table from end to end') from scans as s;

select * from finish();
rollback;

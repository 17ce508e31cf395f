begin;
select plan(31);

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
select lives_ok(format('select jobs.define(%L, keep_done => %L)', k.kind, '1 day'), 'a kind with history') from (values ('a'), ('b'), ('c')) as k (kind);
insert into jobs.job (kind, key, state, run_after, created_at, finished_at)
select (array['a', 'b', 'c'])[1 + n % 3], n::text, (array['done', 'failed', 'cancelled'])[1 + n % 3], jobs.clock(), jobs.clock(), jobs.clock()
from generate_series(1, 1000000) as n;
analyze jobs.job, jobs.trigger;
insert into jobs.job (kind, key, priority, run_after, created_at)
select (array['a', 'b', 'c'])[1 + n % 3], n::text, n % 7 / 3, jobs.clock() - interval '1 hour' + n * interval '1 millisecond', jobs.clock()
from generate_series(1, 5000) as n;
-- the housekeeping of this instant has been done
select is_empty($$ select from jobs.claim('{none}') $$, 'it has ticked');
insert into scans select pg_temp.seq_scans();

select cmp_ok(pg_temp.read_by($$ select jobs.enqueue('a', 'new') $$), '<', 500::bigint, 'enqueue of a new key');
select cmp_ok(pg_temp.read_by($$ select jobs.enqueue('a', 'new', delay => '1 s') $$), '<', 500::bigint, 'enqueue of a pending key');
select cmp_ok(pg_temp.read_by($$ select jobs.enqueue_many('a', array(select 'many ' || n from generate_series(1, 50) as n)) $$), '<', 2000::bigint, 'enqueue_many of 50');
select cmp_ok(pg_temp.read_by($$ insert into held select c.id, c.claimed_by, c.kind, c.key from jobs.claim() as c $$), '<', 1000::bigint, 'claim of one');
select cmp_ok(pg_temp.read_by($$ insert into held select c.id, c.claimed_by, c.kind, c.key from jobs.claim('{a,b}', 50) as c $$), '<', 2000::bigint, 'claim of 50');
select cmp_ok(pg_temp.read_by($$ insert into held select c.id, c.claimed_by, c.kind, c.key from jobs.claim_key('c', '998') as c $$), '<', 500::bigint, 'claim_key');
select cmp_ok(pg_temp.read_by($$ select jobs.enqueue(h.kind, h.key) from held as h where h.place = 1 $$), '<', 500::bigint, 'enqueue of a running key');
select cmp_ok(pg_temp.read_by($$ select jobs.extend(h.id, h.token) from held as h where h.place = 1 $$), '<', 500::bigint, 'extend');
select cmp_ok(pg_temp.read_by($$ select jobs.fence(h.id, h.token) from held as h where h.place = 1 $$), '<', 500::bigint, 'fence');
select cmp_ok(pg_temp.read_by($$ select jobs.holds(h.id, h.token) from held as h where h.place = 1 $$), '<', 500::bigint, 'holds');
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h where h.place = 1 $$), '<', 500::bigint, 'complete of a retriggered job');
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h where h.place = 2 $$), '<', 500::bigint, 'complete');
select cmp_ok(pg_temp.read_by($$ select jobs.fail(h.id, h.token, 'x') from held as h where h.place = 3 $$), '<', 500::bigint, 'fail');
select cmp_ok(pg_temp.read_by($$ select jobs.fail(h.id, h.token, 'x', final => true) from held as h where h.place = 4 $$), '<', 500::bigint, 'fail for good');
select cmp_ok(pg_temp.read_by($$ select jobs.retry(h.id) from held as h where h.place = 4 $$), '<', 500::bigint, 'retry');
select cmp_ok(pg_temp.read_by($$ select jobs.release(h.id, h.token) from held as h where h.place = 5 $$), '<', 500::bigint, 'release');
select cmp_ok(pg_temp.read_by($$ select jobs.cancel(h.id) from held as h where h.place = 6 $$), '<', 500::bigint, 'cancel of a running job');
select cmp_ok(pg_temp.read_by($$ select jobs.cancel_key('c', '995') $$), '<', 500::bigint, 'cancel_key of a pending job');
select cmp_ok(
    pg_temp.read_by($$ select m.id from (select array_agg(h.id) as ids, array_agg(h.token) as tokens from held as h where h.place between 11 and 30) as a cross join lateral jobs.extend_many(a.ids, a.tokens) as m $$),
    '<', 2000::bigint, 'extend_many of 20'
);
select cmp_ok(
    pg_temp.read_by($$ select m.id from (select array_agg(h.id) as ids, array_agg(h.token) as tokens from held as h where h.place between 11 and 30) as a cross join lateral jobs.complete_many(a.ids, a.tokens) as m $$),
    '<', 2000::bigint, 'complete_many of 20'
);
select cmp_ok(pg_temp.read_by($$ select jobs.next_due() $$), '<', 1000::bigint, 'next_due');
set local test.clock = '2030-01-01 12:10:00+00';
select cmp_ok(pg_temp.read_by($$ select jobs.claim('{c}') $$), '<', 5000::bigint, 'a claim that reaps some twenty expired leases');
select is(pg_temp.seq_scans() - s.n, 0::bigint, 'no call has read a table from end to end') from scans as s;
select is_empty($$ select from jobs.job as j where j.state = 'running' and j.claimed_until <= jobs.clock() $$, 'none is left');
update scans set n = pg_temp.seq_scans();
delete from held;
select cmp_ok(pg_temp.read_by($$ insert into held (id, token) select c.id, c.claimed_by from jobs.claim_tx('{b}', 2) as c $$), '<', 1000::bigint, 'claim_tx');
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h limit 1 $$), '<', 500::bigint, 'complete of a transaction lease');
select is(pg_temp.seq_scans() - s.n, 0::bigint, 'no call has read a table from end to end') from scans as s;

select * from finish();
rollback;

begin;
select plan(22);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

-- fresh files, without the dead entries that other transactions have left
truncate jobs.job, jobs.trigger, jobs.outbox, jobs.subscription, jobs.watermark, jobs.unpruned;

-- what a call reads: rows by sequential scans and entries of every index of the outbox's tables; null if it returns no row
create temp table watched as
select c.oid from pg_class as c
where c.oid in ('jobs.outbox'::regclass, 'jobs.watermark'::regclass, 'jobs.unpruned'::regclass, 'jobs.job'::regclass, 'jobs.trigger'::regclass);
create function pg_temp.entries() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_tuples_returned(c.oid))::bigint
    from pg_class as c
    where c.oid in (select w.oid from pg_temp.watched as w)
        or c.oid in (select i.indexrelid from pg_index as i join pg_temp.watched as w on w.oid = i.indrelid);
$$;
create function pg_temp.seq_scans() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_numscans(w.oid))::bigint from pg_temp.watched as w;
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

-- every plan is made, and kept, while the tables are empty and the statistics say so
select lives_ok(format('select jobs.subscribe(%L, %L)', 's', k.kind), k.kind) from (values ('k1'), ('k2')) as k (kind);
analyze jobs.job, jobs.trigger, jobs.outbox, jobs.watermark, jobs.unpruned, jobs.subscription;
do $$
declare
    c record;
begin
    for n in 1 .. 7 loop
        perform jobs.publish('s', 'warm', null);
        perform jobs.publish_many('s', '{warm,up}', '{1,2}');
        for c in select x.* from jobs.claim('{k1,k2}', 10) as x loop
            perform jobs.advance(c.id, c.claimed_by, r.seq) from jobs.read(c.id, c.claimed_by) as r;
            perform jobs.complete(c.id, c.claimed_by);
        end loop;
    end loop;
end;
$$;
delete from jobs.job;
delete from jobs.outbox;
delete from jobs.watermark;
-- 500 keys of 200 rows, of which k1 has handled the first half; 50,000 watermarks of keys without rows
insert into jobs.outbox (stream, key, published_at)
select 's', (n % 500)::text, jobs.clock() from generate_series(1, 100000) as n;
insert into jobs.watermark (kind, key, seq)
select 'k1', o.key, min(o.seq) + 500 * 99 from jobs.outbox as o group by o.key;
insert into jobs.watermark (kind, key, seq) select k.kind, 'old ' || n, n from generate_series(1, 25000) as n, (values ('k1'), ('k2')) as k (kind);
select is(jobs.enqueue_many(k.kind, array(select n::text from generate_series(0, 20) as n)), 21::bigint, 'jobs') from (values ('k1'), ('k2')) as k (kind);
insert into held (id, token, kind, key)
select c.id, c.claimed_by, c.kind, c.key from (values ('k1', '1'), ('k2', '1'), ('k2', '2'), ('k1', '3'), ('k1', '4'), ('k2', '4')) as v (kind, key)
cross join lateral jobs.claim_key(v.kind, v.key) as c;
-- the housekeeping of this instant has been done
select is_empty($$ select from jobs.claim('{none}') $$, 'it has ticked');
insert into scans select pg_temp.seq_scans();

select cmp_ok(pg_temp.read_by($$ select jobs.publish('s', 'new', '1') $$), '<', 500::bigint, 'publish of a new key');
select cmp_ok(pg_temp.read_by($$ select jobs.publish('s', '1', '1') $$), '<', 500::bigint, 'publish of a key that is replayed');
select cmp_ok(pg_temp.read_by($$ select jobs.publish('nobody', '1', '1') $$), '<', 100::bigint, 'publish for nobody');
select cmp_ok(
    pg_temp.read_by($$ select jobs.publish_many('s', array(select 'm' || n from generate_series(1, 50) as n), array(select '1'::jsonb from generate_series(1, 50))) $$),
    '<', 3000::bigint, 'publish_many of 50'
);
select is(r.seq = w.seq + 500, true, 'read goes on from the mark')
from held as h cross join lateral jobs.read(h.id, h.token, 1) as r join jobs.watermark as w on w.kind = h.kind and w.key = h.key where h.place = 1;
select cmp_ok(pg_temp.read_by($$ select r.seq from held as h cross join lateral jobs.read(h.id, h.token, 1) as r where h.place = 1 $$), '<', 50::bigint, 'read of one');
select cmp_ok(pg_temp.read_by($$ select r.seq from held as h cross join lateral jobs.read(h.id, h.token, 50) as r where h.place = 2 $$), '<', 150::bigint, 'read of 50');
select cmp_ok(
    pg_temp.read_by($$ select jobs.advance(h.id, h.token, r.seq) from held as h cross join lateral jobs.read(h.id, h.token, 1) as r where h.place = 1 $$),
    '<', 150::bigint, 'read and advance of the foremost'
);
select cmp_ok(
    pg_temp.read_by(
        $$ select jobs.advance(h.id, h.token, (select max(r.seq) from jobs.read(h.id, h.token, 50) as r)) from held as h where h.place = 2 $$
    ),
    '<', 600::bigint, 'read and advance of the hindmost, which deletes 50 rows'
);
select is(count(*), 151::bigint, 'deleted') from jobs.outbox as o where o.stream = 's' and o.key = '1';
select cmp_ok(pg_temp.read_by($$ select jobs.complete(h.id, h.token) from held as h where h.place = 3 $$), '<', 500::bigint, 'complete with rows unread');
select cmp_ok(
    pg_temp.read_by($$ select m.id from (select array_agg(h.id) as ids, array_agg(h.token) as tokens from held as h where h.place >= 4) as a cross join lateral jobs.complete_many(a.ids, a.tokens) as m $$),
    '<', 1500::bigint, 'complete_many with rows unread'
);
insert into jobs.unpruned (stream, key) values ('s', '5');
insert into jobs.watermark (kind, key, seq) select 'k2', '5', w.seq from jobs.watermark as w where w.kind = 'k1' and w.key = '5';
set local test.clock = '2030-01-01 12:00:01+00';
select cmp_ok(pg_temp.read_by($$ select count(*) from jobs.claim('{none}') $$), '<', 2000::bigint, 'a tick that deletes a hundred rows left behind');
select is(count(*), 100::bigint, 'deleted') from jobs.outbox as o where o.stream = 's' and o.key = '5';
select is(pg_temp.seq_scans() - s.n, 0::bigint, 'no call has read a table from end to end')
from scans as s;
update scans set n = pg_temp.seq_scans();
select cmp_ok(pg_temp.read_by($$ select jobs.replay('k1', false) $$), '<', 20000::bigint, 'the search for keys without a job steps from key to key');
select is(pg_temp.seq_scans() - s.n, 0::bigint, 'no table is read from end to end') from scans as s;

select * from finish();
rollback;

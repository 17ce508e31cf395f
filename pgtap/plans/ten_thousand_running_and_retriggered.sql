begin;
select plan(11);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

-- fresh files, without the dead entries that other transactions have left
truncate jobs.job, jobs.trigger, jobs.tick;

-- rows and index entries of jobs.job and jobs.trigger that were read, and pages of them that were looked at
create function pg_temp.entries() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_tuples_returned(c.oid))::bigint
    from pg_class as c
    where c.oid in ('jobs.job'::regclass, 'jobs.trigger'::regclass)
        or c.oid in (select i.indexrelid from pg_index as i where i.indrelid in ('jobs.job'::regclass, 'jobs.trigger'::regclass));
$$;
create function pg_temp.pages() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_blocks_fetched(c.oid))::bigint
    from pg_class as c
    where c.oid in ('jobs.job'::regclass, 'jobs.trigger'::regclass)
        or c.oid in (select i.indexrelid from pg_index as i where i.indrelid in ('jobs.job'::regclass, 'jobs.trigger'::regclass));
$$;
create temp table tick (n int, entries bigint, pages bigint, claimed bigint);
create function pg_temp.tick(n int) returns void language plpgsql volatile as $$
declare
    entries constant bigint := pg_temp.entries();
    pages constant bigint := pg_temp.pages();
    claimed bigint;
begin
    perform set_config('test.clock', (timestamptz '2030-01-01 12:00:00+00' + tick.n * interval '1 s')::text, true);
    select count(*) into claimed from jobs.claim('{z}');
    insert into tick values (tick.n, pg_temp.entries() - entries, pg_temp.pages() - pages, claimed);
end;
$$;

insert into jobs.job (kind, key, state, claimed_by, claimed_until, run_after, created_at)
select 'k', n::text, 'running', gen_random_uuid(), jobs.clock() + interval '1 hour', jobs.clock(), jobs.clock() from generate_series(1, 10000) as n;
insert into jobs.trigger (kind, key, run_after, on_conflict, created_at)
select 'k', n::text, jobs.clock(), 'reset', jobs.clock() from generate_series(1, 10000) as n;
insert into jobs.trigger (kind, key, run_after, on_conflict, created_at) values ('z', 'behind them all', jobs.clock(), 'reset', jobs.clock());

select is(count(pg_temp.tick(n)), 11::bigint, 'eleven ticks') from generate_series(1, 11) as n;
select cmp_ok(max(t.entries), '<', 5000::bigint, 'none of them reads more than its share of the ten thousand') from tick as t;
select cmp_ok(max(t.pages), '<', 20000::bigint, 'or looks at more pages than a thousand keys need') from tick as t;
select is(sum(t.claimed), 1::numeric, 'and what stands behind them has its turn') from tick as t;
insert into tick select 12, pg_temp.entries(), pg_temp.pages(), 0;
select is_empty($$ select from jobs.claim_tx('{k}') $$, 'a claim_tx in the same instant');
select cmp_ok(pg_temp.entries() - t.entries, '<', 2500::bigint, 'looks at a few hundred') from tick as t where t.n = 12;
select is(count(*), 10000::bigint, 'the triggers of running jobs stay') from jobs.trigger as t;
select is(jobs.cancel_key('k', '5000'), 'cancelled', 'a run ends') from jobs.version();
select is(count(*), 9999::bigint, 'and takes its trigger along at once') from jobs.trigger as t;
insert into jobs.trigger (kind, key, run_after, on_conflict, created_at) values ('z', 'late', jobs.clock(), 'reset', jobs.clock());
select is(m.jobs, 1::bigint, 'maintain looks at all of them') from jobs.maintain() as m where m.what = 'folded';
select is(count(*), 9999::bigint, 'and leaves those that run') from jobs.trigger as t;

select * from finish();
rollback;

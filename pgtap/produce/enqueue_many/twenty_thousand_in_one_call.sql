begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array(select n::text from generate_series(1, 20000) as n)), 20000::bigint, 'twenty thousand keys');
select is(count(*), 20000::bigint, 'as many jobs') from jobs.job as j where j.state = 'pending';
select cmp_ok(count(*), '<', 1000::bigint, 'and not a lock for each') from pg_locks as l where l.pid = pg_backend_pid();
select is(jobs.enqueue_many('k', array(select n::text from generate_series(20000, 1, -1) as n), on_conflict => 'keep'), 20000::bigint, 'all met again');
select is(count(*), 20000::bigint, 'no more of them') from jobs.job as j;

select * from finish();
rollback;

begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array['a', 'b', 'c']), 3::bigint, 'three keys');
select results_eq(
    $$ select j.key, j.state, j.priority::int, j.run_after = jobs.clock() from jobs.job as j order by j.id $$,
    $$ values ('a', 'pending', 0, true), ('b', 'pending', 0, true), ('c', 'pending', 0, true) $$,
    'three jobs, due now'
);
select is(jobs.enqueue_many(
    'l', array['a', 'b'], array['{"n": 1}', null]::jsonb[], array['2031-01-01 00:00:00+00', null]::timestamptz[], 5
), 2::bigint, 'with payloads, times and a priority');
select results_eq(
    $$ select j.key, j.payload, j.run_after, j.priority::int from jobs.job as j where j.kind = 'l' order by j.key $$,
    $$ values ('a', '{"n": 1}'::jsonb, '2031-01-01 00:00:00+00'::timestamptz, 5), ('b', null, jobs.clock(), 5) $$,
    'each has its own'
);
select is(jobs.enqueue_many('m', '{}'), 0::bigint, 'no keys, no jobs');
select is(jobs.enqueue_many('n', array['a'], run_after => array['1999-01-01'::timestamptz]), 1::bigint, 'a time in the past');
select is(j.run_after, jobs.clock(), 'means now') from jobs.job as j where j.kind = 'n';

select * from finish();
rollback;

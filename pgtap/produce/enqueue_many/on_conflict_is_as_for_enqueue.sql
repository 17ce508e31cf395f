begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b}', array['1', '1']::jsonb[], array['2030-01-01 13:00:00+00', '2030-01-01 15:00:00+00']::timestamptz[]), 2::bigint, 'two jobs');
create temp table was as select j.* from jobs.job as j;
select is(jobs.enqueue_many('k', '{a,b}', array['2', '2']::jsonb[], on_conflict => 'keep'), 2::bigint, 'keep');
select set_eq('select * from jobs.job', 'select * from was', 'changes nothing');
select throws_ok($$ select jobs.enqueue_many('k', '{x,b,y}', on_conflict => 'raise') $$, 'JB002', null, 'raise refuses if any is live');
select set_eq('select * from jobs.job', 'select * from was', 'and enqueues none');
select is(
    jobs.enqueue_many('k', '{a,b}', run_after => array_fill('2030-01-01 14:00:00+00'::timestamptz, array[2]), on_conflict => 'earliest'),
    2::bigint, 'earliest'
);
select results_eq(
    $$ select j.key, j.run_after, j.payload from jobs.job as j order by j.key $$,
    $$ values ('a', '2030-01-01 13:00:00+00'::timestamptz, '1'::jsonb), ('b', '2030-01-01 14:00:00+00', '1') $$,
    'moves only forward in line'
);
select is(jobs.enqueue_many('k', '{x,y}', on_conflict => 'raise'), 2::bigint, 'raise inserts where none is live');

select * from finish();
rollback;

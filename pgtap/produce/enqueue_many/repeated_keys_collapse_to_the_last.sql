begin;
select plan(2);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array['a', 'b', 'a', 'a'], array['1', '2', '3', '4']::jsonb[]), 2::bigint, 'two keys of four');
select results_eq(
    $$ select j.key, j.payload from jobs.job as j order by j.key $$, $$ values ('a', '4'::jsonb), ('b', '2') $$, 'the last one counts'
);

select * from finish();
rollback;

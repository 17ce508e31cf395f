begin;
select plan(2);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array[null, null, 'a', null]::text[], array['1', '2', '3', '4']::jsonb[]), 4::bigint, 'four jobs');
select results_eq(
    $$ select j.key, j.payload from jobs.job as j order by j.payload $$,
    $$ values (null, '1'::jsonb), (null, '2'), ('a', '3'), (null, '4') $$, 'as asked'
);

select * from finish();
rollback;

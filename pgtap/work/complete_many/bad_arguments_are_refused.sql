begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select throws_ok(b.call, '22023', null, b.call)
from (values
    ('select jobs.complete_many(null, ''{}'')'), ('select jobs.complete_many(''{}'', null)'), ('select jobs.complete_many(null, null)'),
    ('select jobs.complete_many(''{1}'', ''{}'')'), ('select jobs.complete_many(''{}'', array[gen_random_uuid()])')
) as b (call);
select is_empty($$ select from jobs.complete_many('{}', '{}') $$, 'nothing asked, nothing answered');
select results_eq(
    $$ select m.completed from jobs.complete_many(array[null, 1]::bigint[], array[gen_random_uuid(), null]) as m $$, array[false, false],
    'a null in an array is a lost claim'
);

select * from finish();
rollback;

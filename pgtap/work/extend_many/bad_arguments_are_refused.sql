begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select throws_ok(b.call, '22023', null, b.call)
from (values
    ('select jobs.extend_many(null, ''{}'')'), ('select jobs.extend_many(''{}'', null)'),
    ('select jobs.extend_many(''{1}'', ''{}'')'), ('select jobs.extend_many(''{}'', array[gen_random_uuid()])'),
    ('select jobs.extend_many(''{1}'', array[gen_random_uuid()], ''0'')'), ('select jobs.extend_many(''{1}'', array[gen_random_uuid()], ''8 days'')')
) as b (call);

select * from finish();
rollback;

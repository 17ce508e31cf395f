begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select throws_ok(b.call, '22023', null, b.call)
from (values
    ('select jobs.fail(null, gen_random_uuid(), ''x'')'), ('select jobs.fail(1, null, ''x'')'), ('select jobs.fail(null, null, ''x'')')
) as b (call);

select * from finish();
rollback;

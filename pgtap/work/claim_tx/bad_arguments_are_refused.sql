begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select throws_ok(format('select jobs.claim_tx(%s)', b.call), '22023', null, b.call)
from (values ('batch => 0'), ('batch => -1'), ('batch => 1001'), ('batch => null')) as b (call);

select * from finish();
rollback;

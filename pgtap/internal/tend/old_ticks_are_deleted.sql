begin;
select plan(2);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create function pg_temp.claim_at(at text) returns bigint language sql volatile as $$
    select set_config('test.clock', at, true);
    select count(*) from jobs.claim();
$$;
select is(sum(pg_temp.claim_at((timestamptz '2030-01-01 12:00:00+00' + n * interval '1 s')::text)), 0::numeric, 'two hundred ticks')
from generate_series(1, 200) as n;
select cmp_ok(count(*), '<', 100::bigint, 'leave a bounded number of rows') from jobs.tick as t;

select * from finish();
rollback;

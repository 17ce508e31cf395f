begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 50::bigint, 'fifty kinds that nobody defined')
from generate_series(1, 50) as n cross join lateral jobs.enqueue('k' || n, 'a') as e
where e.outcome = 'inserted';
select is_empty('select from jobs.kind', 'leave no row of policy');
select is(count(*), 50::bigint, 'and are claimed') from jobs.claim(batch => 100) as c;

select * from finish();
rollback;

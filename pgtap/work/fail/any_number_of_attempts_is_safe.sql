begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 5::bigint, 'five jobs without limit')
from (values ('0'), ('20'), ('64'), ('2000000000'), ('2147483647')) as v (key) cross join lateral jobs.enqueue('k', v.key, max_attempts => 0) as e;
update jobs.job set attempts = key::int;
create temp table failing as select c.key, f.* from jobs.claim(batch => 5) as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x') as f;
select is(f.state, 'pending', f.key || ' attempts: pending again') from failing as f;
select ok(
    f.run_after between jobs.clock() + interval '1 s' and jobs.clock() + interval '1 hour', f.key || ' attempts: a wait between the base and the longest'
)
from failing as f;

select * from finish();
rollback;

begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 3::bigint, 'three jobs') from (values ('a'), ('b'), ('c')) as v (key) cross join lateral jobs.enqueue('k', v.key) as e;
select is(f.state, 'pending', 'one has failed before') from jobs.claim_key('k', 'a') as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '0 s') as f;
set local test.clock = '2030-01-01 12:00:01+00';
select lives_ok(format('select jobs.release(%s, %L)', c.id, c.claimed_by), 'released') from jobs.claim_key('k', 'a') as c;
select is((j.state, j.attempts, j.claimed_by, j.claimed_until, j.run_after = jobs.clock())::text, '(pending,1,,,t)', 'due now, its attempts as they were')
from jobs.job as j where j.key = 'a';
select results_eq('select c.key from jobs.claim(batch => 3) as c', array['b', 'c', 'a'], 'behind the jobs already due');

select * from finish();
rollback;

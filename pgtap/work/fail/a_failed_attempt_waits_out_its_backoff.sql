begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', jitter => 0, backoff_base => '2 s', backoff_max => '10 s') $$, 'a kind without jitter');
select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim(worker => 'w') as c;
select is((f.state, f.run_after = jobs.clock() + interval '2 s')::text, '(pending,t)', 'after the first failure it waits the base')
from held as h cross join lateral jobs.fail(h.id, h.claimed_by, 'it broke') as f;
select is(
    (j.state, j.attempts, j.last_error, j.claimed_by, j.claimed_until, j.run_after = jobs.clock() + interval '2 s')::text,
    '(pending,1,"it broke",,,t)', 'the row says the same'
)
from jobs.job as j;
set local test.clock = '2030-01-01 12:01:00+00';
select is(f.run_after, jobs.clock() + interval '4 s', 'then twice that') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x') as f;
set local test.clock = '2030-01-01 12:02:00+00';
select is(f.run_after, jobs.clock() + interval '8 s', 'and again') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x') as f;
set local test.clock = '2030-01-01 12:03:00+00';
select is(f.run_after, jobs.clock() + interval '10 s', 'up to the longest') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x') as f;

select * from finish();
rollback;

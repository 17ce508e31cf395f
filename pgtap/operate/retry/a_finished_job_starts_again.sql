begin;
select plan(12);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 day') $$, 'a kind that keeps history');
select is(jobs.enqueue_many('k', '{done,failed,cancelled}'), 3::bigint, 'three jobs');
select is(jobs.complete(c.id, c.claimed_by), 'done', 'done') from jobs.claim_key('k', 'done') as c;
select is((jobs.fail(c.id, c.claimed_by, 'x', final => true)).state, 'failed', 'failed') from jobs.claim_key('k', 'failed') as c;
select is(jobs.cancel_key('k', 'cancelled'), 'cancelled', 'cancelled');
set local test.clock = '2030-01-01 13:00:00+00';
select is(jobs.retry(j.id), 'retried', j.key) from jobs.job as j order by j.id;
select is((j.state, j.attempts, j.run_after = jobs.clock(), j.finished_at, j.claimed_by)::text, '(pending,0,t,,)', 'pending, due now: ' || j.key)
from jobs.job as j order by j.id;
select is(count(*), 3::bigint, 'they are claimed') from jobs.claim(batch => 10) as c;

select * from finish();
rollback;

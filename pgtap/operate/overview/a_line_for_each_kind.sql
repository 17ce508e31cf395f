begin;
select plan(13);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 day') $$, 'a kind that keeps history');
select is(jobs.enqueue_many('k', '{due,running,expired,done,failed,cancelled,retriggered}'), 7::bigint, 'seven jobs');
select isnt(e.id, null, 'one scheduled') from jobs.enqueue('k', 'scheduled', delay => '1 hour') as e;
select is(jobs.complete(c.id, c.claimed_by), 'done', 'done') from jobs.claim_key('k', 'done') as c;
select is((jobs.fail(c.id, c.claimed_by, 'x', final => true)).state, 'failed', 'failed') from jobs.claim_key('k', 'failed') as c;
select is(jobs.cancel_key('k', 'cancelled'), 'cancelled', 'cancelled');
select is(count(*), 3::bigint, 'three claimed')
from (values ('running', '1 hour'), ('expired', '5 s'), ('retriggered', '1 hour')) as v (key, lease)
cross join lateral jobs.claim_key('k', v.key, lease => v.lease::interval) as c;
select is(e.outcome, 'retriggered', 'one triggered again') from jobs.enqueue('k', 'retriggered') as e;
set local test.clock = '2030-01-01 12:00:30+00';
select is((o.due, o.scheduled)::text, '(1,1)', 'due, scheduled') from jobs.overview as o where o.kind = 'k';
select is(o.expired, 1::bigint, 'expired') from jobs.overview as o where o.kind = 'k';
select cmp_ok(o.running, '>=', 2::bigint, 'running') from jobs.overview as o where o.kind = 'k';
select is((o.queued, o.done, o.failed, o.cancelled)::text, '(1,1,1,1)', 'queued, done, failed, cancelled') from jobs.overview as o where o.kind = 'k';
select is((o.oldest_due_age, o.paused)::text, '(00:00:30,f)', 'the age of the oldest due job') from jobs.overview as o where o.kind = 'k';

select * from finish();
rollback;

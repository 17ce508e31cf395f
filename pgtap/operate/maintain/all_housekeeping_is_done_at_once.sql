begin;
select plan(17);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 hour', keep_failed => '2 hours') $$, 'a kind that keeps history');
select is(jobs.enqueue_many('k', '{expired,done,failed,cancelled,fresh}'), 5::bigint, 'five jobs');
select is(count(*), 1::bigint, 'one runs') from jobs.claim_key('k', 'expired', lease => '10 s') as c;
select is(jobs.complete(c.id, c.claimed_by), 'done', 'one done') from jobs.claim_key('k', 'done') as c;
select is((jobs.fail(c.id, c.claimed_by, 'x', final => true)).state, 'failed', 'one failed') from jobs.claim_key('k', 'failed') as c;
select is(jobs.cancel_key('k', 'cancelled'), 'cancelled', 'one cancelled');
select isnt(m.what, null, 'each line has a name') from jobs.maintain() as m;
select is(count(*), 5::bigint, 'nothing was ripe') from jobs.job as j;
set local test.clock = '2030-01-01 13:00:00+00';
select cmp_ok(sum(m.jobs), '>=', 2::numeric, 'after an hour: a lease over and a job done') from jobs.maintain() as m;
select results_eq(
    $$ select j.key, j.state, j.attempts from jobs.job as j order by j.key $$,
    $$ values ('cancelled', 'cancelled', 0), ('expired', 'pending', 1), ('failed', 'failed', 1), ('fresh', 'pending', 0) $$,
    'the lease is reaped, the history pruned'
);
set local test.clock = '2030-01-01 14:00:00+00';
select cmp_ok(sum(m.jobs), '>=', 2::numeric, 'after another') from jobs.maintain() as m;
select results_eq('select j.key from jobs.job as j order by j.key', array['expired', 'fresh'], 'the dead letters go too');
select is(sum(m.jobs), 0::numeric, 'then there is nothing to do') from jobs.maintain() as m;

select * from finish();
rollback;

begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 day') $$, 'a kind that keeps history');
select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
select is((jobs.fail(c.id, c.claimed_by, 'x', final => true)).state, 'failed', 'failed for good') from jobs.claim('{k}') as c;
select is(e.outcome, 'inserted', 'a fresh one is inserted beside it') from jobs.enqueue('k', 'a') as e;
select is(jobs.complete(c.id, c.claimed_by), 'done', 'done') from jobs.claim('{k}') as c;
select is(e.outcome, 'inserted', 'a fresh one') from jobs.enqueue('k', 'a', on_conflict => 'raise') as e;
select is(jobs.cancel_key('k', 'a'), 'cancelled', 'cancelled');
select is(e.outcome, 'inserted', 'a fresh one') from jobs.enqueue('k', 'a', on_conflict => 'keep') as e;
select results_eq(
    $$ select j.state from jobs.job as j where j.key = 'a' order by j.id $$, array['failed', 'done', 'cancelled', 'pending'],
    'four jobs of one key, one of them live'
);

select * from finish();
rollback;

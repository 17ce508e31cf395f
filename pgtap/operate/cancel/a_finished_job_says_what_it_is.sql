begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 day') $$, 'a kind that keeps history');
select is(jobs.enqueue_many('k', '{done,failed}'), 2::bigint, 'two jobs');
select is(jobs.complete(c.id, c.claimed_by), 'done', 'done') from jobs.claim_key('k', 'done') as c;
select is((jobs.fail(c.id, c.claimed_by, 'x', final => true)).state, 'failed', 'failed') from jobs.claim_key('k', 'failed') as c;
create temp table was as select j.* from jobs.job as j;
select is(jobs.cancel(j.id), j.key, 'stays ' || j.key) from was as j;
select set_eq('select * from jobs.job', 'select * from was', 'nothing has changed');
select is(jobs.cancel(9000000000), 'missing', 'no such job');
select throws_ok('select jobs.cancel(null)', '22023', null, 'a null id');

select * from finish();
rollback;

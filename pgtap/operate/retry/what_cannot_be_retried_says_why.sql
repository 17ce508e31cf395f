begin;
select plan(10);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{pending,running,live}'), 3::bigint, 'three jobs');
create temp table dead as select c.* from jobs.claim_key('k', 'live') as c;
select is((jobs.fail(d.id, d.claimed_by, 'x', final => true)).state, 'failed', 'one fails') from dead as d;
select is(e.outcome, 'inserted', 'and its key has a fresh job') from jobs.enqueue('k', 'live') as e;
select is(count(*), 1::bigint, 'one runs') from jobs.claim_key('k', 'running') as c;
create temp table was as select j.* from jobs.job as j;
select is(jobs.retry(d.id), 'live', 'a live job has its key') from dead as d;
select is(jobs.retry(j.id), j.key, 'nothing to do: ' || j.key) from was as j where j.key in ('pending', 'running');
select is(jobs.retry(9000000000), 'missing', 'no such job');
select set_eq('select * from jobs.job', 'select * from was', 'nothing has changed');
select throws_ok('select jobs.retry(null)', '22023', null, 'a null id');

select * from finish();
rollback;

begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 5::bigint, 'five jobs') from (values ('a'), ('b'), ('c'), ('d'), ('e')) as v (k) cross join lateral jobs.enqueue('k', v.k) as e;
create temp table held as select c.* from jobs.claim_tx(batch => 10) as c;
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'complete') from held as h where h.key = 'a';
select is((jobs.fail(h.id, h.claimed_by, 'it broke', '5 s')).state, 'pending', 'fail') from held as h where h.key = 'b';
select lives_ok(format('select jobs.release(%s, %L)', h.id, h.claimed_by), 'release') from held as h where h.key = 'c';
select is((jobs.fail(h.id, h.claimed_by, 'for good', final => true)).state, 'failed', 'fail for good') from held as h where h.key = 'd';
select is(m.completed, true, 'complete_many') from held as h cross join lateral jobs.complete_many(array[h.id], array[h.claimed_by]) as m where h.key = 'e';
select results_eq(
    $$ select j.key, j.state, j.attempts, j.last_error from jobs.job as j order by j.key $$,
    $$ values ('b', 'pending', 1, 'it broke'), ('c', 'pending', 0, null), ('d', 'failed', 1, 'for good') $$,
    'each did what it does'
);
select is(j.run_after, jobs.clock() + interval '5 s', 'after the wait') from jobs.job as j where j.key = 'b';

select * from finish();
rollback;

begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 hour') $$, 'a kind that keeps history');
select is(count(*), 2::bigint, 'two jobs') from (values ('a'), ('b')) as v (key) cross join lateral jobs.enqueue('k', v.key, '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim(batch => 2, worker => 'w') as c;
set local test.clock = '2030-01-01 12:00:05+00';
select is(jobs.complete(h.id, h.claimed_by, '{"r": 1}'), 'done', 'done') from held as h where h.key = 'a';
select is(jobs.complete(h.id, h.claimed_by), 'done', 'done without a result') from held as h where h.key = 'b';
select results_eq(
    $$ select j.key, j.state, j.payload, j.result, j.finished_at, j.claimed_until, j.worker from jobs.job as j order by j.key $$,
    $$ values ('a', 'done', '{"n": 1}'::jsonb, '{"r": 1}'::jsonb, jobs.clock(), null::timestamptz, 'w'), ('b', 'done', '{"n": 1}', null, jobs.clock(), null, 'w') $$,
    'with its result and its end'
);
select lives_ok($$ select jobs.define('k', keep_done => '0') $$, 'history of no length');
select is(jobs.complete(c.id, c.claimed_by), 'deleted', 'is none') from jobs.enqueue('k', 'c') as e cross join lateral jobs.claim_key('k', 'c') as c;

select * from finish();
rollback;

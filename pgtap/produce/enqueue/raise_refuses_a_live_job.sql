begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'a new key is inserted') from jobs.enqueue('k', 'a', on_conflict => 'raise') as e;
create temp table was as select j.* from jobs.job as j;
select throws_ok(
    $$ select jobs.enqueue('k', 'a', '{"n": 2}', delay => '1 hour', on_conflict => 'raise') $$, 'JB002', null, 'JB002 for a pending job'
);
select results_eq('select * from jobs.job', 'select * from was', 'which is left as it was');
create temp table held as select c.* from jobs.claim('{k}') as c;
select throws_ok($$ select jobs.enqueue('k', 'a', on_conflict => 'raise') $$, 'JB002', null, 'JB002 for a running job');
select is_empty('select from jobs.trigger', 'and nothing is stored');
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'the run ends') from held as h;
select is(e.outcome, 'inserted', 'then the key is free') from jobs.enqueue('k', 'a', on_conflict => 'raise') as e;

select * from finish();
rollback;

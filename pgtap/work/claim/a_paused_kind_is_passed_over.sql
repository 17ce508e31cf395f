begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two kinds') from (values ('a'), ('b')) as v (k) cross join lateral jobs.enqueue(v.k, 'x') as e;
select lives_ok($$ select jobs.pause('a') $$, 'one is paused');
select is_empty($$ select from jobs.claim('{a}') $$, 'not even by name');
select is_empty($$ select from jobs.claim_key('a', 'x') $$, 'nor by key');
select is_empty($$ select from jobs.claim_tx('{a}') $$, 'nor by claim_tx');
select results_eq($$ select c.kind from jobs.claim(batch => 10) as c $$, array['b'], 'the other goes on');
select lives_ok($$ select jobs.resume('a') $$, 'resumed');
select results_eq($$ select c.kind from jobs.claim(batch => 10) as c $$, array['a'], 'it is claimed');

select * from finish();
rollback;

begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 3::bigint, 'three kinds') from (values ('a'), ('b'), ('c')) as v (k) cross join lateral jobs.enqueue(v.k) as e;
select is_empty($$ select from jobs.claim('{}', 10) $$, 'no kinds, no jobs');
select is_empty($$ select from jobs.claim_tx('{}', 10) $$, 'nor by claim_tx');
select is_empty($$ select from jobs.claim('{x}', 10) $$, 'an unknown kind has none');
select is_empty($$ select from jobs.claim(array[null]::text[], 10) $$, 'null is no kind');
select results_eq($$ select c.kind from jobs.claim('{b,b,x}', 10) as c $$, array['b'], 'a kind named twice is one kind');
select results_eq($$ select c.kind from jobs.claim(null, 10) as c order by c.kind $$, array['a', 'c'], 'null = every kind');

select * from finish();
rollback;

begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'a subscriber');
create temp table drawn as
select p.seq, p.place from jobs.publish_many('s', '{b,a,b,c}', '{1,2,3,null}') with ordinality as p (seq, place);
select results_eq(
    $$ select o.key, o.payload, o.published_at from drawn as d join jobs.outbox as o on o.seq = d.seq order by d.place $$,
    $$ values ('b', '1'::jsonb, jobs.clock()), ('a', '2', jobs.clock()), ('b', '3', jobs.clock()), ('c', null, jobs.clock()) $$,
    'the numbers come in the order of the arguments'
);
select results_eq('select d.place from drawn as d order by d.seq', array[1, 2, 3, 4]::bigint[], 'and grow in that order');
select results_eq($$ select j.key from jobs.job as j order by j.key $$, array['a', 'b', 'c'], 'one job for each key');
select is_empty($$ select from jobs.publish_many('s', '{}', '{}') $$, 'none for none');
select is(count(*), 20000::bigint, 'a bulk')
from jobs.publish_many(
    's', array(select (n % 300)::text from generate_series(1, 20000) as n), array(select to_jsonb(n) from generate_series(1, 20000) as n)
) as p;
select is_empty(
    $$ select from (select o.payload::text::int as n, lag(o.payload::text::int) over (order by o.seq) as before from jobs.outbox as o where o.key ~ '[0-9]') as x
    where x.n <> x.before + 1 $$,
    'in order, too'
);

select * from finish();
rollback;

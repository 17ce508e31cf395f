begin;
select plan(10);

select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'a subscriber');
create temp table held as
select c.id, c.claimed_by as token, v.what
from (values ('k', 'a', 'replay'), ('other', 'a', 'not subscribed'), ('k', null, 'without key')) as v (kind, key, what)
cross join lateral jobs.enqueue(v.kind, v.key) as e
cross join lateral jobs.claim(array[v.kind]) as c;
select throws_ok(format('select jobs.read(%s, %L, %L)', h.id, h.token, b.batch), '22023', null, 'batch ' || coalesce(b.batch::text, 'null'))
from held as h cross join (values (0), (-1), (10001), (null)) as b (batch) where h.what = 'replay';
select is_empty(format('select jobs.read(%s, %L, 10000)', h.id, h.token), 'the largest batch') from held as h where h.what = 'replay';
select throws_ok(format('select jobs.read(%s, %L)', h.id, h.token), '22023', null, h.what) from held as h where h.what <> 'replay';
select throws_ok('select jobs.read(1, null)', '22023', null, 'no token');
select throws_ok('select jobs.read(null, gen_random_uuid())', '22023', null, 'no id');

select * from finish();
rollback;

begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'a subscriber');
select is(count(*), 7::bigint, 'seven rows') from jobs.publish_many('s', '{a,b,a,a,c,a,a}', '{1,2,3,4,5,6,7}') as p;
select isnt(jobs.publish('t', 'a', '8'), null, 'a row of another stream');
create temp table held as select c.* from jobs.claim_key('k', 'a') as c;
select results_eq(
    $$ select r.stream, r.key, r.payload, r.published_at from held as h cross join lateral jobs.read(h.id, h.claimed_by) as r $$,
    $$ select 's', 'a', v.n, jobs.clock() from (values ('1'::jsonb), ('3'), ('4'), ('6'), ('7')) as v (n) $$,
    'those of its key'
);
select results_eq(
    $$ select r.payload from held as h cross join lateral jobs.read(h.id, h.claimed_by, 2) as r $$, array['1', '3']::jsonb[], 'a batch of them'
);
select results_eq(
    $$ select r.payload from held as h cross join lateral jobs.read(h.id, h.claimed_by, batch => 2) as r $$, array['1', '3']::jsonb[], 'reading changes nothing'
);
select is(jobs.advance(h.id, h.claimed_by, r.seq), true, 'on to the second')
from held as h cross join lateral (select max(x.seq) as seq from jobs.read(h.id, h.claimed_by, 2) as x) as r;
select results_eq(
    $$ select r.payload from held as h cross join lateral jobs.read(h.id, h.claimed_by, 2) as r $$, array['4', '6']::jsonb[], 'the next ones'
);
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'the job does not end while rows are unread') from held as h;

select * from finish();
rollback;

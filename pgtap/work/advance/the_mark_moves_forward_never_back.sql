begin;
select plan(16);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok(format('select jobs.subscribe(%L, %L)', 's', k.kind), k.kind) from (values ('k'), ('slow')) as k (kind);
create temp table row_of as
select p.seq, p.n from jobs.publish_many('s', '{a,a,b,a}', '{1,2,3,4}') with ordinality as p (seq, n);
create temp table held as select c.* from jobs.claim_key('k', 'a') as c;
create function pg_temp.advance(n int) returns boolean language sql as $$
    select jobs.advance(h.id, h.claimed_by, r.seq) from pg_temp.held as h cross join pg_temp.row_of as r where r.n = advance.n
$$;
create function pg_temp.mark() returns bigint language sql as $$
    select r.n from jobs.watermark as w join pg_temp.row_of as r on r.seq = w.seq where w.kind = 'k' and w.key = 'a'
$$;
select is(pg_temp.advance(2), true, 'the second: more can be read');
select is(pg_temp.mark(), 2::bigint, 'it is the mark');
select is(pg_temp.advance(1), true, 'back to the first');
select is(pg_temp.mark(), 2::bigint, 'changes nothing');
select is(pg_temp.advance(4), false, 'the last: no more');
select is(pg_temp.mark(), 4::bigint, 'it is the mark');
select is(pg_temp.advance(3), false, 'a row of another key below the mark changes nothing either');
select throws_ok(format('select jobs.advance(%s, %L, %s)', h.id, h.claimed_by, u.upto), '22023', null, 'upto ' || u.upto)
from held as h cross join (values ('null'), ('9223372036854775807')) as u (upto);
select isnt(jobs.publish('s', 'b', '5'), null, 'a row of another key');
select throws_ok(format('select jobs.advance(%s, %L, %s)', h.id, h.claimed_by, o.seq), '22023', null, 'is not one that was read')
from held as h cross join jobs.outbox as o where o.payload = '5';
select is(pg_temp.mark(), 4::bigint, 'a refused call changes nothing');
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'all are handled: the job ends') from held as h;
select throws_ok(format('select jobs.advance(%s, %L, 1)', c.id, c.claimed_by), '22023', null, 'a kind that is not subscribed')
from jobs.enqueue('other', 'a') as e cross join lateral jobs.claim('{other}') as c;

select * from finish();
rollback;

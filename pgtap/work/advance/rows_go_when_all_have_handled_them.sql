begin;
select plan(12);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok(format('select jobs.subscribe(%L, %L)', 's', k.kind), k.kind) from (values ('k1'), ('k2')) as k (kind);
select is(count(*), 4::bigint, 'four rows') from jobs.publish_many('s', '{a,a,a,b}', '{1,2,3,4}') as p;
create temp table held as
select c.kind, c.key, c.id, c.claimed_by as token from (values ('k1', 'a'), ('k2', 'a'), ('k1', 'b'), ('k2', 'b')) as v (kind, key)
cross join lateral jobs.claim_key(v.kind, v.key) as c;
create function pg_temp.advance(kind text, key text, rows int) returns boolean language sql as $$
    select jobs.advance(h.id, h.token, (select max(r.seq) from jobs.read(h.id, h.token, advance.rows) as r))
    from pg_temp.held as h where h.kind = advance.kind and h.key = advance.key
$$;
create function pg_temp.rows() returns jsonb language sql as $$ select jsonb_agg(o.payload order by o.seq) from jobs.outbox as o $$;
select is(pg_temp.advance('k1', 'a', 2), true, 'the first has handled two');
select is(pg_temp.rows(), '[1, 2, 3, 4]', 'the second none: all stay');
select is(pg_temp.advance('k2', 'a', 1), true, 'it handles one');
select is(pg_temp.rows(), '[2, 3, 4]', 'that goes');
select is(pg_temp.advance('k2', 'a', 9), false, 'it handles all');
select is(pg_temp.rows(), '[3, 4]', 'what both have handled goes');
select is(pg_temp.advance('k1', 'a', 9) or pg_temp.advance('k1', 'b', 9) or pg_temp.advance('k2', 'b', 9), false, 'the rest');
select is(pg_temp.rows(), null, 'nothing is left');
select is_empty('select from jobs.unpruned', 'and no note, for nobody was in the way');

select * from finish();
rollback;

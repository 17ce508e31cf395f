begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok(format('select jobs.subscribe(%L, %L)', s.stream, s.kind), s.kind)
from (values ('s', 'k1'), ('s', 'k2'), ('t', 'k3')) as s (stream, kind);
create temp table drawn as select jobs.publish('s', 'a', '{"n": 1}') as seq;
select results_eq(
    $$ select o.seq, o.stream, o.key, o.payload, o.published_at from jobs.outbox as o $$,
    $$ select d.seq, 's', 'a', '{"n": 1}'::jsonb, jobs.clock() from drawn as d $$,
    'the row is there, and publish has returned its number'
);
select results_eq(
    $$ select j.kind, j.key, j.state, j.payload, j.run_after from jobs.job as j order by j.kind $$,
    $$ values ('k1', 'a', 'pending', null::jsonb, jobs.clock()), ('k2', 'a', 'pending', null, jobs.clock()) $$,
    'the subscribers of the stream have their jobs, due at once'
);
select cmp_ok(jobs.publish('s', 'a', null), '>', d.seq, 'the next row has a higher number') from drawn as d;
select isnt(jobs.publish('s', 'b', '2'), null, 'another key');
select isnt(jobs.publish('nobody', 'a', '2'), null, 'a stream without subscribers');
select results_eq(
    $$ select j.kind, j.key from jobs.job as j order by j.kind, j.key $$,
    $$ values ('k1', 'a'), ('k1', 'b'), ('k2', 'a'), ('k2', 'b') $$,
    'one job for each key'
);

select * from finish();
rollback;

begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs') from (values ('a'), ('b')) as v (key) cross join lateral jobs.enqueue('k', v.key) as e;
create temp table held as select c.* from jobs.claim() as c;
select is(jobs.complete(h.id, h.claimed_by, '{"r": 1}'), 'deleted', 'the kind keeps no history') from held as h;
select results_eq('select j.key from jobs.job as j', array['b'], 'it is gone, the other is not');
select throws_ok(format('select jobs.complete(%s, %L)', h.id, h.claimed_by), 'JB001', null, 'it can be completed once') from held as h;

select * from finish();
rollback;

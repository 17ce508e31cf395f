begin;
select plan(10);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs') from (values ('a'), ('b')) as v (key) cross join lateral jobs.enqueue('k', v.key) as e;
create temp table held as select c.* from jobs.claim(batch => 2, lease => '10 s') as c;
create temp table was as select j.* from jobs.job as j;
select lives_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'live') from held as h;
select results_eq('select * from jobs.job', 'select * from was', 'nothing is changed');
select throws_ok(format('select jobs.fence(%s, %L)', a.id, b.claimed_by), 'JB001', null, 'the token of one job is none for another')
from held as a join held as b on b.id <> a.id;
select is(jobs.extend(h.id, h.claimed_by, '1 minute'), jobs.clock() + interval '1 minute', 'a heartbeat passes') from held as h;
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'and so does complete') from held as h;

select * from finish();
rollback;

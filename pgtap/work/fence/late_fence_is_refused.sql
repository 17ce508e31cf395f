begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs') from (values ('late'), ('in time')) as v (key) cross join lateral jobs.enqueue('k', v.key) as e;
create temp table held as select c.* from jobs.claim(batch => 2, lease => '10 s') as c;
create temp table was as select j.* from jobs.job as j where j.key = 'late';
set local test.clock = '2030-01-01 12:00:10+00';
select throws_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'JB001', null, 'refused at the instant the lease ends, although nobody has taken the job')
from held as h where h.key = 'late';
select results_eq($$ select j.* from jobs.job as j where j.key = 'late' $$, 'select * from was', 'nothing has changed');
set local test.clock = '2030-01-01 12:00:09.999999+00';
select lives_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'taken a microsecond before') from held as h where h.key = 'in time';

select * from finish();
rollback;

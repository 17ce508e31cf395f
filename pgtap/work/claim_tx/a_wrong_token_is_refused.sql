begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim_tx() as c;
create temp table was as select j.* from jobs.job as j;
select throws_ok(format(v.call, h.id, gen_random_uuid()), 'JB001', null, v.call)
from held as h,
    (values
        ('select jobs.complete(%s, %L)'), ('select jobs.fail(%s, %L, ''x'')'), ('select jobs.release(%s, %L)'),
        ('select jobs.fence(%s, %L)'), ('select jobs.extend(%s, %L)')
    ) as v (call);
select results_eq('select * from jobs.job', 'select * from was', 'nothing has changed');
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'the right one is taken') from held as h;
select throws_ok(format('select jobs.complete(%s, %L)', h.id, h.claimed_by), 'JB001', null, 'once') from held as h;

select * from finish();
rollback;

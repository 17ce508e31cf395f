begin;
select plan(21);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
create temp table bad (call text, argument text);
insert into bad values
('batch => 0', 'batch'), ('batch => -1', 'batch'), ('batch => 1001', 'batch'), ('batch => null', 'batch'),
('lease => ''0''', 'lease'), ('lease => ''-1 s''', 'lease'), ('lease => ''7 days 1 microsecond''', 'lease'),
('worker => repeat(''w'', 257)', 'worker'), ('worker => repeat(''é'', 129)', 'worker');
select throws_ok(format('select jobs.claim(%s)', b.call), '22023', null, b.call) from bad as b;
select throws_like(format('select jobs.claim(%s)', b.call), '%' || b.argument || '%', format('%s is named for %s', b.argument, b.call))
from bad as b;
select is(j.state, 'pending', 'the job is left alone') from jobs.job as j;
select is(count(*), 1::bigint, 'the longest worker and the largest batch pass') from jobs.claim(batch => 1000, worker => repeat('é', 128)) as c;

select * from finish();
rollback;

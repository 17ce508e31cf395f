begin;
select plan(32);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create temp table bad (call text, argument text);
insert into bad values
('kind => null', 'kind'),
('kind => ''''', 'kind'),
('kind => repeat(''k'', 129)', 'kind'),
('kind => repeat(''é'', 65)', 'kind'),
('kind => ''k'', key => repeat(''k'', 2049)', 'key'),
('kind => ''k'', key => repeat(''é'', 1025)', 'key'),
('kind => ''k'', priority => 32768', 'priority'),
('kind => ''k'', priority => -32769', 'priority'),
('kind => ''k'', max_attempts => -1', 'max_attempts'),
('kind => ''k'', on_conflict => ''replace''', 'on_conflict'),
('kind => ''k'', on_conflict => null', 'on_conflict'),
('kind => ''k'', run_after => ''infinity''', 'run_after'),
('kind => ''k'', run_after => ''-infinity''', 'run_after'),
('kind => ''k'', delay => ''1000000 years''', 'delay'),
('kind => ''k'', run_after => ''2030-01-01'', delay => ''1 s''', 'delay');
select throws_ok(format('select jobs.enqueue(%s)', b.call), '22023', null, b.call) from bad as b;
select throws_like(format('select jobs.enqueue(%s)', b.call), '%' || b.argument || '%', format('%s is named for %s', b.argument, b.call))
from bad as b;
select is_empty('select from jobs.job', 'nothing is enqueued');
select is_empty('select from jobs.trigger', 'nothing is stored');

select * from finish();
rollback;

begin;
select plan(27);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create temp table bad (call text, argument text);
insert into bad values
('kind => null, keys => ''{a}''', 'kind'),
('kind => '''', keys => ''{a}''', 'kind'),
('kind => repeat(''k'', 129), keys => ''{a}''', 'kind'),
('kind => ''k'', keys => null', 'keys'),
('kind => ''k'', keys => ''{{a,b},{c,d}}''', 'keys'),
('kind => ''k'', keys => array[''a'', repeat(''k'', 2049)]', 'key'),
('kind => ''k'', keys => ''{a,b}'', payloads => ''{1}''', 'payloads'),
('kind => ''k'', keys => ''{a,b}'', payloads => ''{}''', 'payloads'),
('kind => ''k'', keys => ''{a,b}'', run_after => ''{2030-01-01,2030-01-01,2030-01-01}''', 'run_after'),
('kind => ''k'', keys => ''{a}'', run_after => ''{infinity}''', 'run_after'),
('kind => ''k'', keys => ''{a}'', priority => 40000', 'priority'),
('kind => ''k'', keys => ''{a}'', on_conflict => ''x''', 'on_conflict'),
('kind => ''k'', keys => ''{a}'', on_conflict => null', 'on_conflict');
select throws_ok(format('select jobs.enqueue_many(%s)', b.call), '22023', null, b.call) from bad as b;
select throws_like(format('select jobs.enqueue_many(%s)', b.call), '%' || b.argument || '%', format('%s is named for %s', b.argument, b.call))
from bad as b;
select is_empty('select from jobs.job', 'nothing is enqueued');

select * from finish();
rollback;

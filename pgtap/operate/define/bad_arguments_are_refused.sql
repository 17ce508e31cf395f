begin;
select plan(35);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create temp table bad (call text, argument text);
insert into bad values
('kind => null', 'kind'), ('kind => ''''', 'kind'), ('kind => repeat(''k'', 129)', 'kind'),
('kind => ''k'', max_attempts => -1', 'max_attempts'),
('kind => ''k'', lease => ''0''', 'lease'), ('kind => ''k'', lease => ''-1 s''', 'lease'), ('kind => ''k'', lease => ''8 days''', 'lease'),
('kind => ''k'', backoff_base => ''0''', 'backoff_base'), ('kind => ''k'', backoff_base => ''-1 s''', 'backoff_base'),
('kind => ''k'', backoff_max => ''0''', 'backoff_max'), ('kind => ''k'', backoff_max => ''-1 s''', 'backoff_max'),
('kind => ''k'', jitter => -0.1', 'jitter'), ('kind => ''k'', jitter => 1.1', 'jitter'), ('kind => ''k'', jitter => ''nan''', 'jitter'),
('kind => ''k'', keep_done => ''-1 s''', 'keep_done'), ('kind => ''k'', keep_failed => ''-1 s''', 'keep_failed');
select throws_ok(format('select jobs.define(%s)', b.call), '22023', null, b.call) from bad as b;
select throws_like(format('select jobs.define(%s)', b.call), '%' || b.argument || '%', format('%s is named for %s', b.argument, b.call))
from bad as b;
select throws_ok('select jobs.pause(null)', '22023', null, 'pause of no kind');
select throws_ok('select jobs.resume(null)', '22023', null, 'resume of no kind');
select is_empty('select from jobs.kind', 'no policy is written');

select * from finish();
rollback;

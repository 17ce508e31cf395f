begin;
select plan(13);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'inserted') from jobs.enqueue(
    kind => 'k', key => 'a', payload => '{"a": [1, null, "é"]}', delay => '90 s', priority => -5, max_attempts => 7
) as e;
select is(j.payload, '{"a": [1, null, "é"]}'::jsonb, 'the payload') from jobs.job as j where j.key = 'a';
select is(j.run_after, jobs.clock() + interval '90 s', 'the delay') from jobs.job as j where j.key = 'a';
select is(j.priority, -5::smallint, 'the priority') from jobs.job as j where j.key = 'a';
select is(j.max_attempts, 7, 'the limit of attempts') from jobs.job as j where j.key = 'a';
select isnt(e.id, null, 'a run_after is taken') from jobs.enqueue('k', 'b', run_after => '2031-01-01 00:00:00+00') as e;
select is(j.run_after, '2031-01-01 00:00:00+00'::timestamptz, 'as it is given') from jobs.job as j where j.key = 'b';
select isnt(e.id, null, 'the JSON null is a payload') from jobs.enqueue('k', 'c', 'null'::jsonb) as e;
select is(j.payload, 'null'::jsonb, 'and stays what it is') from jobs.job as j where j.key = 'c';
select isnt(e.id, null, 'the lowest priority') from jobs.enqueue('k', 'd', priority => -32768) as e;
select isnt(e.id, null, 'the highest priority') from jobs.enqueue('k', 'e', priority => 32767) as e;
select isnt(e.id, null, 'max_attempts 0 = without limit') from jobs.enqueue('k', 'f', max_attempts => 0) as e;
select is(j.max_attempts, 0, 'is stored') from jobs.job as j where j.key = 'f';

select * from finish();
rollback;

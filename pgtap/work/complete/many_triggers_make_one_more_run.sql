begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim() as c;
select is(e.outcome, 'retriggered', 'one') from jobs.enqueue('k', 'a', '{"n": 2}', delay => '30 s') as e;
select is(e.outcome, 'retriggered', 'two, without payload') from jobs.enqueue('k', 'a', delay => '40 s', priority => 3) as e;
select is(e.outcome, 'retriggered', 'three') from jobs.enqueue('k', 'a', delay => '20 s', on_conflict => 'earliest') as e;
select is(e.outcome, 'retriggered', 'four') from jobs.enqueue('k', 'a', delay => '10 s', on_conflict => 'keep') as e;
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'one more run') from held as h;
select is((j.payload, j.priority, j.run_after = jobs.clock() + interval '20 s')::text, '("{""n"": 2}",3,t)', 'in the order of the triggers') from jobs.job as j;
select is(count(*), 1::bigint, 'one job') from jobs.job as j;

select * from finish();
rollback;

begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'the first is inserted') from jobs.enqueue('k') as e;
select is(e.outcome, 'inserted', 'so is the second') from jobs.enqueue('k', null) as e;
select is(e.outcome, 'inserted', 'and with on_conflict raise too') from jobs.enqueue('k', on_conflict => 'raise') as e;
select is(count(*), 3::bigint, 'three jobs') from jobs.job as j where j.kind = 'k';

select * from finish();
rollback;

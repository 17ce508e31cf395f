begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

savepoint s;
select is(e.outcome, 'inserted', 'inserted') from jobs.enqueue('k', 'a') as e;
rollback to savepoint s;
select is_empty('select from jobs.job', 'no commit, no job');
select is(e.outcome, 'inserted', 'the key is free again') from jobs.enqueue('k', 'a') as e;

select * from finish();
rollback;

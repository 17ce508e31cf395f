begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table tokens (id bigint, token uuid);
savepoint s;
select is(c.key, 'a', 'claimed in a savepoint') from jobs.claim_tx() as c;
rollback to savepoint s;
select is(c.key, 'a', 'that is rolled back: it can be claimed again') from jobs.claim_tx() as c;

select * from finish();
rollback;

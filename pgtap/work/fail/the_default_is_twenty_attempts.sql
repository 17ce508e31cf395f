begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
update jobs.job set attempts = 18;
select is(f.state, 'pending', 'the nineteenth failure') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '0 s') as f;
select is(f.state, 'failed', 'the twentieth') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x', '0 s') as f;

select * from finish();
rollback;

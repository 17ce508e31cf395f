begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(f.state, 'pending', 'a million characters are no fault') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, repeat('é', 1000000), '0 s') as f;
select cmp_ok(length(j.last_error), '<=', 8000, 'kept to 8,000') from jobs.job as j;
select is(left(j.last_error, 7900), repeat('é', 7900), 'from its beginning') from jobs.job as j;
select is(f.state, 'pending', '8,000 characters') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, repeat('é', 8000), '0 s') as f;
select is(j.last_error, repeat('é', 8000), 'stay whole') from jobs.job as j;
select is(f.state, 'pending', 'quotes, line ends, placeholders') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, E'it''s\n100 % "bad" \\ 🦊', '0 s') as f;
select is(j.last_error, E'it''s\n100 % "bad" \\ 🦊', 'stay what they are') from jobs.job as j;
select is(f.state, 'pending', 'no error text') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, '', '0 s') as f;

select * from finish();
rollback;

begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', lease => '5 minutes') $$, 'a kind with a lease');
select is(count(*), 4::bigint, 'four jobs') from (values ('k'), ('k'), ('l'), ('k')) as v (k) cross join lateral jobs.enqueue(v.k) as e;
select is(c.claimed_until, jobs.clock() + interval '5 minutes', 'the kind''s') from jobs.claim('{k}') as c;
select is(c.claimed_until, jobs.clock() + interval '1 s', 'the given one') from jobs.claim('{k}', lease => '1 s') as c;
select is(c.claimed_until, jobs.clock() + interval '7 days', 'seven days are allowed') from jobs.claim('{l}', lease => '7 days') as c;
select is(c.claimed_until, jobs.clock() + interval '1 microsecond', 'so is a microsecond') from jobs.claim('{k}', lease => '1 microsecond') as c;

select * from finish();
rollback;

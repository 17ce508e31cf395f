begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs') from (values ('a'), ('b')) as v (k) cross join lateral jobs.enqueue('k', v.k) as e;
create temp table held as select c.* from jobs.claim_key('k', 'b', lease => '10 s', worker => 'w') as c;
select is((h.key, h.state, h.worker, h.claimed_until = jobs.clock() + interval '10 s')::text, '(b,running,w,t)', 'the one asked for') from held as h;
select is_empty($$ select from jobs.claim_key('k', 'b') $$, 'while it runs it is not free');
select is_empty($$ select from jobs.claim_key('k', 'c') $$, 'an unknown key has no job');
select is_empty($$ select from jobs.claim_key('l', 'a') $$, 'nor has another kind');
select is(c.claimed_until, jobs.clock() + interval '60 s', 'the default lease') from jobs.claim_key('k', 'a') as c;
set local test.clock = '2030-01-01 12:00:10+00';
select is((c.id = h.id, c.attempts)::text, '(t,1)', 'when the lease is over it is free, and the attempt counts')
from held as h cross join lateral jobs.claim_key('k', 'b') as c;

select * from finish();
rollback;

begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'due in ten seconds') from jobs.enqueue('k', 'a', delay => '10 s') as e;
set local test.clock = '2030-01-01 12:00:09.999999+00';
select is_empty($$ select from jobs.claim_key('k', 'a') $$, 'a microsecond before');
set local test.clock = '2030-01-01 12:00:10+00';
select is(count(*), 1::bigint, 'at the instant') from jobs.claim_key('k', 'a') as c;
select is((jobs.fail(j.id, j.claimed_by, 'x', final => true)).state, 'failed', 'failed for good') from jobs.job as j;
select is_empty($$ select from jobs.claim_key('k', 'a') $$, 'a failed job is not live');

select * from finish();
rollback;

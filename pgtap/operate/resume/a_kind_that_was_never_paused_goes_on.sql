begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.resume('k') $$, 'nothing to resume');
select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(count(*), 1::bigint, 'is claimed') from jobs.claim() as c;

select * from finish();
rollback;

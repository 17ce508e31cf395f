begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', keep_done => '1 hour') $$, 'kept for an hour');
select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(jobs.complete(c.id, c.claimed_by), 'done', 'done') from jobs.claim() as c;
set local test.clock = '2030-01-01 12:59:59.999999+00';
select isnt(sum(m.jobs), null, 'a microsecond before') from jobs.maintain() as m;
select is(count(*), 1::bigint, 'it is there') from jobs.job as j;
set local test.clock = '2030-01-01 13:00:00+00';
select isnt(sum(m.jobs), null, 'at the hour') from jobs.maintain() as m;
select is_empty('select from jobs.job', 'it is gone');

select * from finish();
rollback;

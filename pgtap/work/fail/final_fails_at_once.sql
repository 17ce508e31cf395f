begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', max_attempts => 0) as e;
select is(f.state, 'failed', 'failed') from jobs.claim() as c cross join lateral jobs.fail(c.id, c.claimed_by, 'no use', final => true) as f;
select is((j.state, j.attempts, j.last_error, j.finished_at = jobs.clock())::text, '(failed,1,"no use",t)', 'the attempt counts') from jobs.job as j;

select * from finish();
rollback;

begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'two attempts are allowed') from jobs.enqueue('k', 'a', max_attempts => 2) as e;
select is(c.attempts, 0, 'the first') from jobs.claim(lease => '10 s') as c;
set local test.clock = '2030-01-01 12:01:00+00';
select is(c.attempts, 1, 'the second') from jobs.claim(lease => '10 s') as c;
set local test.clock = '2030-01-01 12:02:00+00';
select is_empty('select from jobs.claim()', 'there is no third');
select is((j.state, j.attempts, j.finished_at = jobs.clock(), j.claimed_by, j.claimed_until)::text, '(failed,2,t,,)', 'it is failed') from jobs.job as j;
select matches(j.last_error, '^lease expired', 'and says why') from jobs.job as j;

select * from finish();
rollback;

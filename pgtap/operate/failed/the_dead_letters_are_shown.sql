begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b}'), 2::bigint, 'two jobs');
select is((jobs.fail(c.id, c.claimed_by, 'it broke', final => true)).state, 'failed', 'one fails for good') from jobs.claim() as c;
select is((f.kind, f.key, f.last_error)::text, '(k,a,"it broke")', 'it is in the view') from jobs.failed as f;

select * from finish();
rollback;

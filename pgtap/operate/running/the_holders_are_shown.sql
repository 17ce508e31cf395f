begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b}'), 2::bigint, 'two jobs');
select is(count(*), 1::bigint, 'one runs') from jobs.claim(worker => 'w1') as c;
select is((r.kind, r.key, r.worker)::text, '(k,a,w1)', 'it is in the view') from jobs.running as r;

select * from finish();
rollback;

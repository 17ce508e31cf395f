begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
set local test.clock = '2030-01-01 12:00:07+00';
create temp table held as select c.* from jobs.claim(worker => 'w1') as c;
select is((h.state, h.worker, h.attempts, h.payload)::text, '(running,w1,0,"{""n"": 1}")', 'running, labelled, no attempt yet') from held as h;
select is(h.claimed_at, jobs.clock(), 'claimed now') from held as h;
select is(h.claimed_until, jobs.clock() + interval '60 s', 'for the default lease of 60 s') from held as h;
select isnt(h.claimed_by, null, 'with a token') from held as h;
select isnt(h.epoch, null, 'and an epoch') from held as h;
select results_eq('select * from jobs.job', 'select * from held', 'what is returned is what is stored');
select is_empty('select from jobs.claim()', 'nobody else gets it');

select * from finish();
rollback;

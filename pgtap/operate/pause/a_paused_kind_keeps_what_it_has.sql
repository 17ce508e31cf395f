begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim() as c;
select lives_ok($$ select jobs.pause('k') $$, 'paused while one runs');
select lives_ok($$ select jobs.pause('k') $$, 'twice is once');
select is(jobs.extend(h.id, h.claimed_by, '1 minute'), jobs.clock() + interval '1 minute', 'its holder goes on') from held as h;
select is(e.outcome, 'inserted', 'a paused kind can be enqueued') from jobs.enqueue('k', 'b') as e;
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'and its holder completes') from held as h;
select is_empty('select from jobs.claim(batch => 10)', 'but nothing is claimed');
select is((o.due, o.paused)::text, '(1,t)', 'the overview shows it') from jobs.overview as o where o.kind = 'k';

select * from finish();
rollback;

begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a pending job') from jobs.enqueue('k', 'pending', '{"n": 1}') as e;
select isnt(e.id, null, 'a running job') from jobs.enqueue('k', 'running', '{"n": 1}') as e;
create temp table held as select c.* from jobs.claim_key('k', 'running') as c;
insert into jobs.trigger (kind, key, payload, run_after, on_conflict, created_at)
select 'k', v.key, '{"n": 2}', jobs.clock() + interval '10 s', 'reset', jobs.clock() from (values ('pending'), ('running'), ('none')) as v (key);
select cmp_ok(sum(m.jobs), '>=', 2::numeric, 'two can be folded') from jobs.maintain() as m;
select results_eq(
    $$ select j.key, j.state, j.payload, j.run_after - jobs.clock() from jobs.job as j order by j.key $$,
    $$ values ('none', 'pending', '{"n": 2}'::jsonb, interval '10 s'), ('pending', 'pending', '{"n": 2}', '10 s'), ('running', 'running', '{"n": 1}', '0') $$,
    'into the pending job, or into a fresh one'
);
select results_eq('select t.key from jobs.trigger as t', array['running'], 'that of the running job stays');
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'until its run ends') from held as h;
select is_empty('select from jobs.trigger', 'then it is used up');

select * from finish();
rollback;

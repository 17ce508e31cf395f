begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 2::bigint, 'two jobs') from (values ('a'), ('b')) as v (key) cross join lateral jobs.enqueue('k', v.key) as e;
update jobs.job set attempts = 3;
create temp table held as select c.* from jobs.claim(batch => 2) as c;
select lives_ok(format('select jobs.release(%s, %L, %L)', h.id, h.claimed_by, '10 s'), 'a snooze') from held as h where h.key = 'a';
select is((j.attempts, j.run_after = jobs.clock() + interval '10 s')::text, '(3,t)', 'due after it') from jobs.job as j where j.key = 'a';
select lives_ok(format('select jobs.release(%s, %L, progress => true)', h.id, h.claimed_by), 'a batch is done and more remains') from held as h where h.key = 'b';
select is((j.attempts, j.run_after = jobs.clock())::text, '(0,t)', 'attempts start again') from jobs.job as j where j.key = 'b';

select * from finish();
rollback;

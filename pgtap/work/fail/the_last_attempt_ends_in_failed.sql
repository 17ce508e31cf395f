begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k', max_attempts => 2) $$, 'a kind with two attempts');
select isnt(e.id, null, 'a job of the kind''s limit') from jobs.enqueue('k', 'kind') as e;
select isnt(e.id, null, 'one with a limit of its own') from jobs.enqueue('k', 'own', max_attempts => 1) as e;
select isnt(e.id, null, 'one without limit') from jobs.enqueue('k', 'none', max_attempts => 0) as e;
update jobs.job set attempts = 100 where key = 'none';
create temp table first as select f.*, c.key from jobs.claim(batch => 3) as c cross join lateral jobs.fail(c.id, c.claimed_by, 'one', '0 s') as f;
select results_eq(
    'select f.key, f.state from first as f order by f.key', $$ values ('kind', 'pending'), ('none', 'pending'), ('own', 'failed') $$, 'the first failure'
);
create temp table second as select f.*, c.key from jobs.claim(batch => 3) as c cross join lateral jobs.fail(c.id, c.claimed_by, 'two', '0 s') as f;
select results_eq(
    'select f.key, f.state from second as f order by f.key', $$ values ('kind', 'failed'), ('none', 'pending') $$, 'the second'
);
select results_eq(
    $$ select j.key, j.attempts, j.last_error, j.finished_at = jobs.clock(), j.claimed_by, j.claimed_until from jobs.job as j where j.state = 'failed' order by j.key $$,
    $$ values ('kind', 2, 'two', true, null::uuid, null::timestamptz), ('own', 1, 'one', true, null, null) $$,
    'the dead letters'
);

select * from finish();
rollback;

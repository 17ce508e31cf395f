begin;
select plan(7);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('history', keep_done => '1 hour') $$, 'a kind that keeps history');
select is(jobs.enqueue_many('k', '{plain,triggered,lost,other}'), 4::bigint, 'four jobs');
select is(jobs.enqueue_many('history', '{kept}'), 1::bigint, 'one with history');
create temp table held as select c.* from jobs.claim(batch => 5) as c;
select is(e.outcome, 'retriggered', 'one is triggered') from jobs.enqueue('k', 'triggered') as e;
select is(jobs.cancel_key('k', 'lost'), 'cancelled', 'one is cancelled');
create temp table asked as
select
    array_agg(h.id order by h.key desc) || 9000000000 as ids,
    array_agg(case when h.key = 'other' then gen_random_uuid() else h.claimed_by end order by h.key desc) || gen_random_uuid() as tokens
from held as h;
select results_eq(
    $$ select m.id, m.completed from asked as a cross join lateral jobs.complete_many(a.ids, a.tokens) as m $$,
    $$ (select h.id, h.key not in ('lost', 'other') from held as h order by h.key desc) union all select 9000000000, false $$,
    'one row per entry, in order'
);
select results_eq(
    'select j.key, j.state from jobs.job as j order by j.key',
    $$ values ('kept', 'done'), ('lost', 'cancelled'), ('other', 'running'), ('triggered', 'pending') $$,
    'each has become what complete makes of it'
);

select * from finish();
rollback;

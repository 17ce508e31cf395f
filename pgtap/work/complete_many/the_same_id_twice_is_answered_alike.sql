begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b}'), 2::bigint, 'two jobs');
create temp table held as select c.* from jobs.claim(batch => 2) as c;
select results_eq(
    $$ select m.id, m.completed from held as h cross join lateral jobs.complete_many(array[h.id, h.id], array[h.claimed_by, h.claimed_by]) as m where h.key = 'a' $$,
    $$ select h.id, true from held as h cross join generate_series(1, 2) where h.key = 'a' $$,
    'both completed'
);
select results_eq('select j.key from jobs.job as j', array['b'], 'once');

select * from finish();
rollback;

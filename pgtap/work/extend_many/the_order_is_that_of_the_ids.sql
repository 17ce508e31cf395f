begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b,c}'), 3::bigint, 'three jobs');
create temp table held as select c.*, row_number() over () as n from jobs.claim(batch => 3, lease => '10 s') as c;
select is(jobs.cancel(h.id), 'cancelled', 'one is cancelled') from held as h where h.n = 2;
create temp table asked as
select a.ids, a.tokens
from (
    select
        array_agg(h.id order by h.n desc) || array_agg(h.id order by h.n) as ids,
        array_agg(h.claimed_by order by h.n desc) || array[gen_random_uuid()] || (array_agg(h.claimed_by order by h.n))[2:] as tokens
    from held as h
) as a;
select results_eq(
    $$ select m.id, m.claimed_until, m.cancelled from asked as a cross join lateral jobs.extend_many(a.ids, a.tokens, '1 minute') as m $$,
    $$ select u.id, case when u.place in (1, 3, 6) then jobs.clock() + interval '1 minute' end, u.place in (2, 5)
    from asked as a cross join lateral unnest(a.ids) with ordinality as u (id, place) order by u.place $$,
    'one row per entry, in order; lost = null; cancelled says so'
);
select results_eq(
    'select j.state, j.claimed_until from jobs.job as j order by j.key',
    $$ values ('running', jobs.clock() + interval '1 minute'), ('cancelled', null), ('running', jobs.clock() + interval '1 minute') $$,
    'the rows say so'
);
select is_empty($$ select from jobs.extend_many('{}', '{}', '1 s') $$, 'nothing asked, nothing answered');

select * from finish();
rollback;

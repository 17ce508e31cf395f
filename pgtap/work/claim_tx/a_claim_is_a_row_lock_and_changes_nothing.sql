begin;
select plan(14);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 3::bigint, 'three jobs') from (values ('a'), ('b'), ('c')) as v (k) cross join lateral jobs.enqueue('k', v.k) as e;
create temp table was as select j.* from jobs.job as j;
create temp table held as select c.* from jobs.claim_tx(batch => 2) as c;
select results_eq('select h.key from held as h order by h.id', array['a', 'b'], 'two jobs');
select is((h.claimed_until, h.claimed_by is null)::text, '(,f)', 'a token, no end') from held as h;
select set_eq('select * from jobs.job', 'select * from was', 'the rows are not changed');
select results_eq('select c.key from jobs.claim_tx(batch => 2) as c', array['c'], 'the next call returns what is not held yet');
select is_empty('select from jobs.claim_tx(batch => 2)', 'then nothing');
select is(count(distinct h.claimed_by), 2::bigint, 'each has its own token') from held as h;
select lives_ok(format('select jobs.fence(%s, %L)', h.id, h.claimed_by), 'the fence stands') from held as h;
select is(jobs.holds(h.id, h.claimed_by), true, 'and holds() says so') from held as h;
select is(jobs.extend(h.id, h.claimed_by), null, 'there is nothing to extend') from held as h;

select * from finish();
rollback;

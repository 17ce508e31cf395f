begin;
select plan(4);

create function pg_temp.gen_random_uuid() returns uuid language sql return '00000000-0000-0000-0000-000000000000'::uuid;
create temp table job (id bigint, kind text, state text);
create temp table kind (kind text, paused boolean);
create function pg_temp.clock() returns timestamptz language sql return '1999-01-01'::timestamptz;
create function pg_temp.coalesce(text, text) returns text language sql return 'stolen'::text;
select set_config('search_path', 'pg_temp, ' || current_setting('search_path') || ', pg_catalog', true);
select is(e.outcome, 'inserted', 'enqueue') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim() as c;
select isnt(h.claimed_by, '00000000-0000-0000-0000-000000000000'::uuid, 'the token is random') from held as h;
select cmp_ok(h.claimed_until, '>', '2020-01-01'::timestamptz, 'the clock is the clock') from held as h;
select is(jobs.complete(h.id, h.claimed_by), 'deleted', 'complete') from held as h;

select * from finish();
rollback;

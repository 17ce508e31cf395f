begin;
select plan(6);

select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f
    where f.pronamespace = 'jobs'::regnamespace and f.proname <> 'clock' and not coalesce('search_path=pg_catalog, pg_temp' = any (f.proconfig), false) $$,
    'search_path = pg_catalog, pg_temp on every function but the clock, whose body is parsed once'
);
select is(f.prosqlbody is not null, true, 'as it is') from pg_proc as f where f.oid = 'jobs.clock()'::regprocedure;
select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f
    where f.pronamespace = 'jobs'::regnamespace
        and f.prosrc ~ '(from|update|into|join)\s+jobs\.(job|trigger)\M'
        and f.proname not in ('version')
        and not coalesce(f.proconfig @> array['enable_seqscan=off', 'enable_bitmapscan=off', 'plan_cache_mode=force_generic_plan', 'jit=off'], false) $$,
    'whatever reads a job or a trigger leaves the planner no choice'
);
select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f where f.pronamespace = 'jobs'::regnamespace and f.proleakproof $$, 'none claims to be leakproof'
);
select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f
    where f.pronamespace = 'jobs'::regnamespace and f.prosecdef and f.provolatile <> 'v' and f.proname not in ('next_due', 'version') $$,
    'what reads the clock or changes a row is volatile'
);
select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f where f.pronamespace = 'jobs'::regnamespace and f.proisstrict $$, 'none is strict: a null argument is judged, not ignored'
);

select * from finish();
rollback;

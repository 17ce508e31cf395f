begin;
select plan(3);

select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f cross join lateral aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
    where f.pronamespace = 'jobs'::regnamespace and a.grantee = 0 $$,
    'no function'
);
select is_empty(
    $$ select c.relname from pg_class as c cross join lateral aclexplode(coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) as a
    where c.relnamespace = 'jobs'::regnamespace and c.relkind in ('r', 'v', 'S', 'm', 'p') and a.grantee = 0 $$,
    'no table, view or sequence'
);
select is_empty(
    $$ select n.nspname from pg_namespace as n cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
    where n.nspname = 'jobs' and a.grantee = 0 $$,
    'not the schema'
);

select * from finish();
rollback;

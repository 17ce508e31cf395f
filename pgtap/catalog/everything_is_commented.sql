begin;
select plan(5);

select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f where f.pronamespace = 'jobs'::regnamespace and coalesce(obj_description(f.oid, 'pg_proc'), '') !~ '\w' $$,
    'every function'
);
select is_empty(
    $$ select c.oid::regclass from pg_class as c
    where c.relnamespace = 'jobs'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and coalesce(obj_description(c.oid, 'pg_class'), '') !~ '\w' $$,
    'every table and view'
);
select is_empty(
    $$ select a.attrelid::regclass, a.attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'jobs'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and a.attnum > 0 and not a.attisdropped
        and coalesce(col_description(a.attrelid, a.attnum), '') !~ '\w' $$,
    'every column'
);
select isnt(obj_description('jobs'::regnamespace, 'pg_namespace'), null, 'and the schema');
select is_empty(
    $$ select f.oid::regprocedure from pg_proc as f where f.pronamespace = 'jobs'::regnamespace and obj_description(f.oid, 'pg_proc') ~ '  |(up to|without those in|for) [,;]' $$,
    'no comment has lost a word'
);

select * from finish();
rollback;

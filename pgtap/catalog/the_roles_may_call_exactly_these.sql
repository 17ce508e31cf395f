begin;
select plan(19);

create temp table allowed (role text, names text[]);
insert into allowed values
('jobs_producer', '{enqueue,enqueue_many,publish,publish_many,version}'),
('jobs_worker', '{advance,claim,claim_key,claim_tx,complete,complete_many,enqueue,enqueue_many,extend,extend_many,fail,fence,holds,next_due,publish,publish_many,read,release,version}'),
('jobs_operator', '{advance,cancel,cancel_key,claim,claim_key,claim_tx,complete,complete_many,define,enqueue,enqueue_many,extend,extend_many,fail,fence,holds,maintain,next_due,pause,publish,publish_many,read,release,resume,retry,subscribe,version}');
select is(
    array(
        select f.proname::text from pg_proc as f
        where f.pronamespace = 'jobs'::regnamespace and has_function_privilege(a.role, f.oid, 'execute')
            and not (a.role = 'jobs_operator' and f.proname = 'clock') -- the views call it with the rights of their reader
        order by 1
    ),
    a.names, a.role || ': functions'
)
from allowed as a;
select is_empty(
    format(
        $$ select c.relname from pg_class as c where c.relnamespace = 'jobs'::regnamespace and c.relkind in ('r', 'p', 'm')
        and has_table_privilege(%L, c.oid, 'select, insert, update, delete, truncate, references, trigger') $$, a.role
    ),
    a.role || ': no table'
)
from allowed as a where a.role <> 'jobs_operator';
select is_empty(
    $$ select c.relname from pg_class as c where c.relnamespace = 'jobs'::regnamespace and c.relkind in ('r', 'p', 'm')
    and has_table_privilege('jobs_operator', c.oid, 'insert, update, delete, truncate') $$,
    'jobs_operator: changes no table by hand'
);
select is(has_table_privilege('jobs_operator', 'jobs.' || v.name, 'select'), true, 'jobs_operator: reads jobs.' || v.name)
from (values ('overview'), ('running'), ('failed'), ('lag')) as v (name);
select is(has_table_privilege(a.role, 'jobs.secret', 'select'), false, a.role || ': does not read the secret') from allowed as a;
select is(has_schema_privilege(a.role, 'jobs', 'usage'), true, a.role || ': usage of the schema') from allowed as a;
select is(has_schema_privilege(a.role, 'jobs', 'create'), false, a.role || ': creates nothing in it') from allowed as a;

select * from finish();
rollback;

begin;
select plan(56);

create temp table promised (name text, arguments text, result text);
insert into promised values
('advance', 'id bigint, token uuid, upto bigint', 'boolean'),
('cancel', 'id bigint', 'text'),
('cancel_key', 'kind text, key text', 'text'),
('claim', 'kinds text[] DEFAULT NULL::text[], batch integer DEFAULT 1, lease interval DEFAULT NULL::interval, worker text DEFAULT NULL::text', 'SETOF jobs.job'),
('claim_key', 'kind text, key text, lease interval DEFAULT NULL::interval, worker text DEFAULT NULL::text', 'SETOF jobs.job'),
('claim_tx', 'kinds text[] DEFAULT NULL::text[], batch integer DEFAULT 1', 'SETOF jobs.job'),
('complete', 'id bigint, token uuid, result jsonb DEFAULT NULL::jsonb', 'text'),
('complete_many', 'ids bigint[], tokens uuid[]', 'TABLE(id bigint, completed boolean)'),
('define', 'kind text, max_attempts integer DEFAULT NULL::integer, lease interval DEFAULT NULL::interval, backoff_base interval DEFAULT NULL::interval, '
    || 'backoff_max interval DEFAULT NULL::interval, jitter double precision DEFAULT NULL::double precision, keep_done interval DEFAULT NULL::interval, '
    || 'keep_failed interval DEFAULT NULL::interval', 'void'),
('enqueue', 'kind text, key text DEFAULT NULL::text, payload jsonb DEFAULT NULL::jsonb, run_after timestamp with time zone DEFAULT NULL::timestamp with time zone, '
    || 'delay interval DEFAULT NULL::interval, priority integer DEFAULT NULL::integer, max_attempts integer DEFAULT NULL::integer, '
    || 'on_conflict text DEFAULT ''reset''::text, OUT id bigint, OUT outcome text', 'record'),
('enqueue_many', 'kind text, keys text[], payloads jsonb[] DEFAULT NULL::jsonb[], run_after timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], '
    || 'priority integer DEFAULT NULL::integer, on_conflict text DEFAULT ''reset''::text', 'bigint'),
('extend', 'id bigint, token uuid, lease interval DEFAULT NULL::interval', 'timestamp with time zone'),
('extend_many', 'ids bigint[], tokens uuid[], lease interval DEFAULT NULL::interval', 'TABLE(id bigint, claimed_until timestamp with time zone, cancelled boolean)'),
('fail', 'id bigint, token uuid, error text, retry_in interval DEFAULT NULL::interval, final boolean DEFAULT false', 'TABLE(state text, run_after timestamp with time zone)'),
('fence', 'id bigint, token uuid', 'void'),
('holds', 'id bigint, token uuid', 'boolean'),
('maintain', '', 'TABLE(what text, jobs bigint)'),
('next_due', 'kinds text[] DEFAULT NULL::text[]', 'interval'),
('pause', 'kind text', 'void'),
('publish', 'stream text, key text, payload jsonb', 'bigint'),
('publish_many', 'stream text, keys text[], payloads jsonb[]', 'SETOF bigint'),
('read', 'id bigint, token uuid, batch integer DEFAULT 100', 'SETOF jobs.outbox'),
('release', 'id bigint, token uuid, delay interval DEFAULT ''00:00:00''::interval, progress boolean DEFAULT false', 'void'),
('resume', 'kind text', 'void'),
('retry', 'id bigint', 'text'),
('subscribe', 'stream text, kind text, from_start boolean DEFAULT true', 'void'),
('version', '', 'text');
select is(pg_get_function_arguments(f.oid), p.arguments, p.name || ': arguments')
from promised as p left join pg_proc as f on f.proname = p.name and f.pronamespace = 'jobs'::regnamespace order by p.name;
select is(pg_get_function_result(f.oid), p.result, p.name || ': result')
from promised as p left join pg_proc as f on f.proname = p.name and f.pronamespace = 'jobs'::regnamespace order by p.name;
select results_eq(
    $$ select f.proname::text collate "default" as name from pg_proc as f where f.pronamespace = 'jobs'::regnamespace and f.prosecdef order by 1 $$,
    $$ select p.name from promised as p where p.name <> 'version' order by 1 $$,
    'these, and no others, are SECURITY DEFINER (version touches no table)'
);
select is_empty(
    $$ select f.proname from pg_proc as f where f.pronamespace = 'jobs'::regnamespace group by f.proname having count(*) > 1 $$, 'no name is overloaded'
);

select * from finish();
rollback;

begin;
select plan(7);

select results_eq(
    $$ select a.attname::text collate "default", format_type(a.atttypid, a.atttypmod) collate "default", a.attnotnull
    from pg_attribute as a where a.attrelid = 'jobs.job'::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum $$,
    $$ values
    ('id', 'bigint', true), ('kind', 'text', true), ('key', 'text', false), ('state', 'text', true), ('priority', 'smallint', true),
    ('attempts', 'integer', true), ('max_attempts', 'integer', false), ('run_after', 'timestamp with time zone', true), ('claimed_by', 'uuid', false),
    ('claimed_until', 'timestamp with time zone', false), ('worker', 'text', false), ('last_error', 'text', false), ('payload', 'jsonb', false),
    ('result', 'jsonb', false), ('created_at', 'timestamp with time zone', true), ('claimed_at', 'timestamp with time zone', false),
    ('finished_at', 'timestamp with time zone', false), ('epoch', 'bigint', false) $$,
    'these, in this order: drivers keep the row type of claim() in their caches'
);
select is(a.attnum::int, 18, 'and no column was ever dropped') from pg_attribute as a where a.attrelid = 'jobs.job'::regclass and a.attname = 'epoch';
select col_is_pk('jobs', 'job', 'id', 'id is the primary key');
select is(a.attidentity::text, 'a', 'an identity') from pg_attribute as a where a.attrelid = 'jobs.job'::regclass and a.attname = 'id';
select tables_are('jobs', array['job', 'kind', 'trigger', 'tick', 'cursor', 'secret', 'migration', 'outbox', 'subscription', 'watermark', 'unpruned'], 'the tables');
select views_are('jobs', array['overview', 'running', 'failed', 'lag'], 'the views');
select columns_are(
    'jobs', 'overview',
    array['kind', 'due', 'scheduled', 'running', 'expired', 'queued', 'done', 'failed', 'cancelled', 'oldest_due_age', 'paused'], 'the overview''s columns'
);

select * from finish();
rollback;

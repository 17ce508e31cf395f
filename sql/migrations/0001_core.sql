-- The core: jobs, kinds, stored triggers, ticks of the housekeeping. Runs once.

create table jobs.job (
    id bigint generated always as identity primary key,
    kind text not null check (octet_length(kind) between 1 and 128),
    key text check (octet_length(key) <= 2048),
    state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed', 'cancelled')),
    priority smallint not null default 0,
    attempts int not null default 0,
    max_attempts int check (max_attempts >= 0),
    run_after timestamptz not null,
    claimed_by uuid,
    claimed_until timestamptz,
    worker text,
    last_error text,
    payload jsonb,
    result jsonb,
    created_at timestamptz not null,
    claimed_at timestamptz,
    finished_at timestamptz,
    epoch bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.1);

create unique index job_live_key on jobs.job (kind, key) where state in ('pending', 'running');
create index job_due on jobs.job (kind, priority, run_after, id) where state = 'pending';
create index job_lease on jobs.job (claimed_until, id) where state = 'running';
create index job_ended on jobs.job (kind, state, finished_at, id) where state in ('done', 'failed', 'cancelled');

create sequence jobs.epoch;

create table jobs.kind (
    kind text primary key check (octet_length(kind) between 1 and 128),
    lease interval not null default '60 s' check (lease > '0 s' and lease <= '7 days'),
    max_attempts int not null default 20 check (max_attempts >= 0),
    backoff_base interval not null default '1 s' check (backoff_base > '0 s'),
    backoff_max interval not null default '1 hour' check (backoff_max > '0 s'),
    jitter double precision not null default 0.1 check (jitter between 0 and 1),
    keep_done interval check (keep_done >= '0 s'),
    keep_failed interval not null default '14 days' check (keep_failed >= '0 s'),
    paused boolean not null default false
);

create table jobs.trigger (
    id bigint generated always as identity primary key,
    kind text not null,
    key text not null,
    payload jsonb,
    run_after timestamptz not null,
    priority smallint,
    max_attempts int,
    on_conflict text not null,
    created_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index trigger_key on jobs.trigger (kind, key, id);

create table jobs.tick (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    kind text,
    key text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table jobs.secret (
    secret bytea not null
);

insert into jobs.secret (secret)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

comment on schema jobs is 'pgclaim: background work as a contract inside PostgreSQL. \df+ jobs.* is the manual.';

comment on table jobs.migration is 'Migrations that ran here, in order.';
comment on column jobs.migration.version is 'Number of the migration.';
comment on column jobs.migration.name is 'Its name.';
comment on column jobs.migration.applied_at is 'When it ran.';

comment on table jobs.job is 'Every job of every kind. Changed only by the functions of this schema.';
comment on column jobs.job.id is 'Number of the job; with the token of a claim it is the proof of that claim.';
comment on column jobs.job.kind is 'What work it is, 1 to 128 bytes; workers claim by kind.';
comment on column jobs.job.key is 'At most one pending or running job has a given kind and key; null = no such rule. Up to 2,048 bytes.';
comment on column jobs.job.state is 'pending, running, done (only where the kind keeps history), failed (dead letter: out of attempts), cancelled.';
comment on column jobs.job.priority is '0 = default; lower runs first.';
comment on column jobs.job.attempts is 'Failed attempts so far; expired leases count.';
comment on column jobs.job.max_attempts is 'Attempts allowed; null = as the kind says, 0 = without limit.';
comment on column jobs.job.run_after is 'Not claimed before this instant: schedule and backoff.';
comment on column jobs.job.claimed_by is 'Token of the present claim (or of the one that was cancelled).';
comment on column jobs.job.claimed_until is 'End of the lease. From this instant the claim is over.';
comment on column jobs.job.worker is 'Label given by the last claimer.';
comment on column jobs.job.last_error is 'Error of the last failed attempt, cut to 8,000 characters.';
comment on column jobs.job.payload is 'Input of the job.';
comment on column jobs.job.result is 'What complete() was given, where the kind keeps history.';
comment on column jobs.job.created_at is 'When it was enqueued.';
comment on column jobs.job.claimed_at is 'When it was last claimed.';
comment on column jobs.job.finished_at is 'When it became done, failed or cancelled.';
comment on column jobs.job.epoch is 'Number of the last claim, larger than that of any earlier claim: a fencing token for stores outside the database.';

comment on sequence jobs.epoch is 'Numbers of claims, see jobs.job.epoch.';

comment on table jobs.kind is 'Policies of the kinds that jobs.define() or jobs.pause() named; all others have the defaults.';
comment on column jobs.kind.kind is 'The kind.';
comment on column jobs.kind.lease is 'Lease of a claim that names none; default 60 s.';
comment on column jobs.kind.max_attempts is 'Attempts allowed, 0 = without limit; default 20.';
comment on column jobs.kind.backoff_base is 'Wait after the first failed attempt, doubled by each further one; default 1 s.';
comment on column jobs.kind.backoff_max is 'Longest wait between attempts; default 1 hour.';
comment on column jobs.kind.jitter is 'Random share by which a wait is longer or shorter, 0 to 1; default 0.1.';
comment on column jobs.kind.keep_done is 'How long completed jobs are kept as done; null = they are deleted at once.';
comment on column jobs.kind.keep_failed is 'How long failed and cancelled jobs are kept; default 14 days.';
comment on column jobs.kind.paused is 'No job of this kind is claimed while true.';

comment on table jobs.trigger is 'Stored triggers: enqueues that met a running job or one held by another transaction. Folded into the job when that ends.';
comment on column jobs.trigger.id is 'Order in which they are folded.';
comment on column jobs.trigger.kind is 'Kind of the job to trigger.';
comment on column jobs.trigger.key is 'Its key.';
comment on column jobs.trigger.payload is 'New payload; null = leave it.';
comment on column jobs.trigger.run_after is 'When the job shall run.';
comment on column jobs.trigger.priority is 'New priority; null = leave it.';
comment on column jobs.trigger.max_attempts is 'New limit of attempts; null = leave it.';
comment on column jobs.trigger.on_conflict is 'reset, earliest or keep, as for jobs.enqueue().';
comment on column jobs.trigger.created_at is 'When it was stored.';

comment on table jobs.tick is 'When the housekeeping that rides along with claims was done; only the newest rows are kept.';
comment on column jobs.tick.id is 'Order of the ticks.';
comment on column jobs.tick.at is 'When.';
comment on column jobs.tick.kind is 'Where its look at the stored triggers ended: the next tick goes on from here; null = it saw the last one.';
comment on column jobs.tick.key is 'The key there.';

comment on table jobs.secret is 'One row, made at installation: tokens of transaction leases are derived from it.';
comment on column jobs.secret.secret is '32 random bytes.';

insert into jobs.migration (version, name) values (1, 'core');

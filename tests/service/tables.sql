-- The service's own tables. Set of messages: a conversation, a speaker, or the whole organisation.
-- Deliberately nothing here forbids that a thing is done twice: that is what the claims are for.

-- One row is one life of a session: a name that is deleted and made again is another session, with another id.
create table session (
    id bigint generated always as identity primary key,
    name text not null,
    status text not null check (status in ('provisioning', 'ready', 'deleting'))
);

create unique index session_name on session (name) where status <> 'deleting';

-- The registry of what is in the vector store: a collection is noted here before it is made there.
create table collection (
    name text primary key,
    session_id bigint not null,
    state text not null check (state in ('creating', 'active', 'deleted'))
);

create index collection_session on collection (session_id);

create table episode (
    id bigint generated always as identity primary key,
    session_id bigint not null references session (id),
    position int not null,
    speaker text not null,
    text text not null,
    said_at text,
    unique (session_id, position)
);

-- Long-term memory. Rows of a deleted session stay until they are purged.
create table segment (
    id bigint generated always as identity primary key,
    session_id bigint not null,
    episode_id bigint not null,
    digest text not null,
    token uuid not null
);

create index segment_session on segment (session_id, id);

create table semantic_message (
    set_id text not null,
    episode_id bigint not null references episode (id),
    ingested_at timestamptz,
    skipped text,
    primary key (set_id, episode_id)
);

create index semantic_message_waiting on semantic_message (set_id, episode_id) where ingested_at is null;
create index semantic_message_episode on semantic_message (episode_id);

create table feature (
    id bigint generated always as identity primary key,
    set_id text not null,
    episode_id bigint not null references episode (id),
    digest text not null,
    words int not null,
    token uuid not null
);

create index feature_message on feature (set_id, episode_id);
create index feature_episode on feature (episode_id);

-- What follows is a log, for the checks. Instants are the database's.

-- Ingestion: one row for each claim, written when its handler starts.
create table attempt (
    set_id text not null,
    token uuid primary key,
    epoch bigint not null,
    worker text,
    claimed_at timestamptz not null
);

create index attempt_set on attempt (set_id, epoch);

-- Ingestion: one row for each fenced transaction, written in it.
create table fenced_write (
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    messages int not null,
    claimed_at timestamptz not null,
    written_at timestamptz not null
);

-- Ingestion: one row for each result that came too late: its transaction was refused.
create table refused_write (
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    messages int not null,
    reason text not null,
    refused_at timestamptz not null
);

-- The other consumers: one row for each fenced transaction, written in it.
create table step (
    id bigint generated always as identity primary key,
    kind text not null,
    key text not null,
    what text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    claimed_at timestamptz not null,
    written_at timestamptz not null
);

-- The other consumers: one row for each result that came too late.
create table refused_step (
    kind text not null,
    key text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    reason text not null,
    refused_at timestamptz not null
);

-- One row for each batch of the segment purge, written in its transaction.
create table purge_batch (
    id bigint generated always as identity primary key,
    session_id bigint not null,
    rows int not null,
    most int not null,
    token uuid not null,
    xid text not null default pg_current_xact_id()::text,
    written_at timestamptz not null
);

-- One row for each session that was asked for, and whether it was asked to go; never deleted.
create table session_log (
    session_id bigint primary key,
    name text not null,
    deleted boolean not null default false
);

-- One row for each episode that was published; never deleted.
create table published (
    seq bigint primary key,
    session_id bigint not null
);

create index published_session on published (session_id, seq);

-- One row for each published episode that a subsystem has handled, in the order it did: written with its effect, or passed over
-- because the session is going.
create table applied (
    id bigint generated always as identity primary key,
    kind text not null,
    session_id bigint not null,
    seq bigint not null,
    written boolean not null,
    token uuid not null
);

create index applied_session on applied (kind, session_id, seq);

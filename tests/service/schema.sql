-- The service's own tables. Set of messages: a conversation, a speaker, or the whole organisation.
-- Deliberately nothing here forbids a message to be reflected twice: that is what the claims are for.

create table session (
    id text primary key
);

create table episode (
    id bigint generated always as identity primary key,
    session_id text not null references session (id),
    position int not null,
    speaker text not null,
    text text not null,
    said_at text,
    unique (session_id, position)
);

create table semantic_message (
    set_id text not null,
    episode_id bigint not null references episode (id),
    ingested_at timestamptz,
    skipped text,
    primary key (set_id, episode_id)
);

create index semantic_message_waiting on semantic_message (set_id, episode_id) where ingested_at is null;

create table feature (
    id bigint generated always as identity primary key,
    set_id text not null,
    episode_id bigint not null references episode (id),
    digest text not null,
    words int not null,
    token uuid not null
);

create index feature_message on feature (set_id, episode_id);

-- One row for each claim, written when its handler starts.
create table attempt (
    set_id text not null,
    token uuid primary key,
    epoch bigint not null,
    worker text,
    claimed_at timestamptz not null
);

create index attempt_set on attempt (set_id, epoch);

-- One row for each fenced transaction, written in it. Instants are the database's.
create table fenced_write (
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    messages int not null,
    claimed_at timestamptz not null,
    written_at timestamptz not null
);

-- One row for each result that came too late: its transaction was refused.
create table refused_write (
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    worker text,
    messages int not null,
    reason text not null,
    refused_at timestamptz not null
);

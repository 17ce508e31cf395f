-- What a run of the service notes for the checks at its end: what was promised, what was done to it, and what the remote ends saw.
create schema run;

-- One row.
create table run.note (
    lease interval not null,
    allowance interval not null,
    longest int not null,
    model_calls int
);

-- The replicas that were killed, and the claims of sets that they held when all their sessions had ended.
create table run.killed (
    worker text primary key,
    killed_at timestamptz not null
);

create table run.orphan (
    worker text not null references run.killed (worker),
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    claimed_until timestamptz not null
);

-- What the vector store holds at the end.
create table run.collection (
    name text primary key,
    made boolean not null
);

create table run.vector (
    collection text not null references run.collection (name),
    episode_id bigint not null,
    digest text not null
);

-- One row for each call that drops a collection: how many transactions of the replicas were open when it began, and how many of those
-- had not ended when it was answered, which was put off for that.
create table run.dropping (
    worker text not null,
    open int not null,
    still_open int not null
);

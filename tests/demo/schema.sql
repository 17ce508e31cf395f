-- What the demo itself notes, for the checks at its end.
create schema demo;

-- One row: what was fed, and what is promised.
create table demo.run (
    episodes int not null,
    lease interval not null,
    allowance interval not null,
    longest int not null,
    llm_calls int
);

-- The replica that was killed, and the claims it held then.
create table demo.killed (
    worker text not null,
    killed_at timestamptz not null
);

create table demo.orphan (
    worker text not null,
    set_id text not null,
    token uuid not null,
    epoch bigint not null,
    claimed_until timestamptz not null
);

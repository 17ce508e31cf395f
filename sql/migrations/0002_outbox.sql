-- The outbox: rows that jobs of a subscribed kind replay in order, and how far each has come. Runs once.

create table jobs.outbox (
    seq bigint generated always as identity (sequence name jobs.outbox_seq) primary key,
    stream text not null check (octet_length(stream) between 1 and 128),
    key text not null check (octet_length(key) <= 2048),
    payload jsonb,
    published_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.1);

create index outbox_key on jobs.outbox (stream, key, seq);

create table jobs.subscription (
    kind text primary key check (octet_length(kind) between 1 and 128),
    stream text not null check (octet_length(stream) between 1 and 128),
    from_seq bigint not null check (from_seq >= 0),
    awaits bigint,
    created_at timestamptz not null
);

create index subscription_stream on jobs.subscription (stream, kind);

create table jobs.watermark (
    kind text not null,
    key text not null,
    seq bigint not null,
    primary key (kind, key)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000);

create index watermark_seq on jobs.watermark (seq);

create table jobs.unpruned (
    id bigint generated always as identity primary key,
    stream text not null,
    key text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

comment on table jobs.outbox is 'Rows that were published and that some subscriber has not handled yet. Written by jobs.publish(), read by jobs.read().';
comment on column jobs.outbox.seq is 'Number of the row, what jobs.publish() returned. Rows of one stream and key are read in this order.';
comment on column jobs.outbox.stream is 'The stream, 1 to 128 bytes.';
comment on column jobs.outbox.key is 'Within a stream, rows of one key are handled one after the other, up to 2,048 bytes.';
comment on column jobs.outbox.payload is 'What was published.';
comment on column jobs.outbox.published_at is 'When jobs.publish() was called.';

comment on sequence jobs.outbox_seq is 'Numbers of the rows of the outbox, see jobs.outbox.seq.';

comment on table jobs.subscription is 'Which kind of job replays which stream.';
comment on column jobs.subscription.kind is 'The kind of the replay jobs; it replays one stream.';
comment on column jobs.subscription.stream is 'The stream.';
comment on column jobs.subscription.from_seq is 'Rows up to this one are not replayed by a key that has no watermark yet.';
comment on column jobs.subscription.awaits is
'While not null: transactions that began to publish at or before this row may not know the subscription yet; the housekeeping looks after their rows.';
comment on column jobs.subscription.created_at is 'When jobs.subscribe() was called.';

comment on table jobs.watermark is 'How far the replay of a key has come.';
comment on column jobs.watermark.kind is 'The subscribed kind.';
comment on column jobs.watermark.key is 'The key.';
comment on column jobs.watermark.seq is 'The last row of the key that was handled; it never goes back.';

comment on table jobs.unpruned is 'Keys of the outbox whose handled rows could not be deleted on the spot; the housekeeping deletes them.';
comment on column jobs.unpruned.id is 'Order of the notes.';
comment on column jobs.unpruned.stream is 'The stream.';
comment on column jobs.unpruned.key is 'The key.';

insert into jobs.migration (version, name) values (2, 'outbox');

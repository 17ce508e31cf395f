-- Promises: one row at the end of the stream, in the caller's transaction, and the job (kind, key) of every subscriber will run after it has
-- committed. Never waits. Raises 22023, 25006. Locks: as enter_outbox (before the number is drawn); then as enqueue, kind by kind.
-- The job is met by keep: a row that arrives cuts neither a backoff nor a snooze.
create or replace function jobs.publish(stream text, key text, payload jsonb)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    drawn bigint;
    subscriber text;
begin
    perform jobs.guard('publish', false);
    perform jobs.check_publish(publish.stream, array[publish.key]);
    perform jobs.enter_outbox(publish.stream, array[publish.key]);
    insert into jobs.outbox (stream, key, payload, published_at)
    values (publish.stream, publish.key, publish.payload, jobs.clock())
    returning outbox.seq into drawn;
    for subscriber in select s.kind from jobs.subscription as s where s.stream = publish.stream order by s.stream, s.kind loop
        perform jobs.enqueue(subscriber, publish.key, on_conflict => 'keep');
    end loop;
    return drawn;
end;
$$;

comment on function jobs.publish(text, text, jsonb) is
'Appends a row to a stream in the caller''s transaction (no commit, no row) and triggers the job (kind, key) of every subscriber. Never waits.
stream: 1 to 128 bytes. key: up to 2,048 bytes, not null; rows of one key are handled in order, keys beside each other. payload: what the subscribers shall get.
Returns seq, the number of the row. While the transaction is open, later rows of the same key are not delivered. Raises 22023, 25006.';

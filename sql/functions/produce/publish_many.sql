-- Promises: as publish for each key and payload, set-based, in the order given. Returns the numbers of the rows in that order. Never waits.
-- Raises 22023, 25006. Locks: as enter_outbox (more than eight keys lock the whole stream, for its readers only); then as enqueue_many.
create or replace function jobs.publish_many(stream text, keys text[], payloads jsonb[])
returns setof bigint
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
    at constant timestamptz := jobs.clock();
    different text[];
    subscriber text;
begin
    perform jobs.guard('publish_many', false);
    if publish_many.keys is null or publish_many.payloads is null
        or cardinality(publish_many.keys) <> cardinality(publish_many.payloads)
        or array_ndims(publish_many.keys) > 1 or array_ndims(publish_many.payloads) > 1
    then
        raise exception 'keys and payloads must be arrays of one dimension and one length, not % and %',
            coalesce(cardinality(publish_many.keys)::text, 'null'), coalesce(cardinality(publish_many.payloads)::text, 'null')
            using errcode = '22023';
    end if;
    perform jobs.check_publish(publish_many.stream, publish_many.keys);
    if cardinality(publish_many.keys) = 0 then
        return;
    end if;
    different := array(select distinct k.key from unnest(publish_many.keys) as k (key));
    perform jobs.enter_outbox(publish_many.stream, different);
    return query
    with added as (
        insert into jobs.outbox (stream, key, payload, published_at)
        select publish_many.stream, u.key, u.payload, at
        from unnest(publish_many.keys, publish_many.payloads) with ordinality as u (key, payload, place)
        order by u.place
        returning outbox.seq
    )
    select a.seq from added as a order by a.seq;
    for subscriber in
        select s.kind from jobs.subscription as s where s.stream = publish_many.stream order by s.stream, s.kind
    loop
        perform jobs.enqueue_many(subscriber, different, on_conflict => 'keep');
    end loop;
end;
$$;

comment on function jobs.publish_many(text, text[], jsonb[]) is
'Appends a row to a stream for each key and payload, in the caller''s transaction and in the order given, and triggers the jobs of every subscriber. Never waits.
stream: 1 to 128 bytes. keys: not null, up to 2,048 bytes each, they may repeat. payloads: as long as keys.
Returns the numbers of the rows (seq), in the order given. Raises 22023, 25006.';

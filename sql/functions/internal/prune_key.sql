-- Promises: deletes up to 10,000 rows of a key that every subscriber of the stream has handled, those above `after`. Returns whether that was all.
-- Two subscribers that advance at once do not see each other's watermark: who does not get the advisory lock of the key leaves the rows, and a
-- note for the housekeeping, which needs that lock too. So it is needed only where a stream has more than one subscriber.
-- Locks: the advisory lock (1785684603, hash of stream and key), tried, until the transaction ends; then the rows, skipping locked ones.
create or replace function jobs.prune_key(stream text, key text, after bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    subscribers int;
    handled bigint;
    pruned int := 0;
begin
    subscribers := (select count(*) from jobs.subscription as s where s.stream = prune_key.stream);
    if current_setting('transaction_isolation') in ('repeatable read', 'serializable')
        or (
            subscribers > 1
            and not pg_try_advisory_xact_lock(
                1785684603, hashtextextended(prune_key.key, hashtextextended(prune_key.stream, 0))::bit(32)::int
            )
        )
    then
        return false;
    end if;
    select min(coalesce((select w.seq from jobs.watermark as w where w.kind = s.kind and w.key = prune_key.key), s.from_seq))
    into handled
    from jobs.subscription as s where s.stream = prune_key.stream;
    if handled > prune_key.after then
        delete from jobs.outbox as d
        where d.ctid = any (array(
            select o.ctid from jobs.outbox as o
            where
                (o.stream, o.key, o.seq) > (prune_key.stream, prune_key.key, prune_key.after)
                and (o.stream, o.key, o.seq) <= (prune_key.stream, prune_key.key, handled)
            order by o.stream, o.key, o.seq
            limit 10000
            for update skip locked
        ));
        get diagnostics pruned = row_count;
    end if;
    return pruned < 10000;
end;
$$;

comment on function jobs.prune_key(text, text, bigint) is
'Deletes the rows of a key that every subscriber has handled; false if some may be left. Internal.';

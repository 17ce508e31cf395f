-- Promises: null if the job (kind, key) replays nothing or has handled every committed row of its key; otherwise how long to wait before it looks again:
-- rows are left by a handler that stopped early, or wait behind an open transaction that published the same key. The wait grows with the
-- age of the oldest of them, 250 ms to 10 s. Locks nothing.
create or replace function jobs.unread(kind text, key text)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    s record;
    oldest timestamptz;
begin
    select
        x.stream, coalesce((select w.seq from jobs.watermark as w where w.kind = unread.kind and w.key = unread.key), x.from_seq) as mark
    into s
    from jobs.subscription as x where x.kind = unread.kind;
    if not found then
        return null;
    end if;
    select o.published_at into oldest
    from jobs.outbox as o
    where
        (o.stream, o.key, o.seq) > (s.stream, unread.key, s.mark)
        and (o.stream, o.key, o.seq) <= (s.stream, unread.key, 9223372036854775807)
    order by o.stream, o.key, o.seq
    limit 1;
    if not found then
        return null;
    end if;
    return greatest(interval '250 ms', least(interval '10 s', (jobs.clock() - oldest) / 4));
end;
$$;

comment on function jobs.unread(text, text) is
'How long the replay job (kind, key) is to wait for rows that it has not handled; null if there are none. Internal.';

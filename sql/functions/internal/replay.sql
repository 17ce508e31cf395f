-- Promises: every key with committed rows that the subscribed kind has not handled has a live job. With `spare_failed`, keys that have a failed
-- or cancelled job are left alone. Returns how many jobs were made. Locks as enqueue_many.
create or replace function jobs.replay(kind text, spare_failed boolean)
returns bigint
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
    idle text[];
begin
    select x.stream, x.from_seq into s from jobs.subscription as x where x.kind = replay.kind;
    if not found then
        return 0;
    end if;
    idle := array(
        with recursive present (key) as (
            (
                select o.key from jobs.outbox as o
                where (o.stream, o.key) >= (s.stream, '') and (o.stream) <= (s.stream)
                order by o.stream, o.key
                limit 1
            )
            union all
            select n.key
            from present as p
            cross join lateral (
                select o.key from jobs.outbox as o
                where (o.stream, o.key) > (s.stream, p.key) and (o.stream) <= (s.stream)
                order by o.stream, o.key
                limit 1
            ) as n
        )
        select p.key
        from present as p
        cross join lateral (
            select o.seq from jobs.outbox as o
            where
                (o.stream, o.key, o.seq) > (
                    s.stream, p.key,
                    coalesce((select w.seq from jobs.watermark as w where w.kind = replay.kind and w.key = p.key), s.from_seq)
                )
                and (o.stream, o.key, o.seq) <= (s.stream, p.key, 9223372036854775807)
            order by o.stream, o.key, o.seq
            limit 1
        ) as u
        where not exists (
            select from jobs.job as j
            where j.kind = replay.kind and j.key = p.key and j.state in ('pending', 'running')
        )
        except
        select j.key from jobs.job as j
        where j.state in ('done', 'failed', 'cancelled') and j.kind = replay.kind and j.state in ('failed', 'cancelled') and replay.spare_failed
    );
    return jobs.enqueue_many(replay.kind, idle, on_conflict => 'keep');
end;
$$;

comment on function jobs.replay(text, boolean) is 'Makes a job for every key with rows that the kind has not handled; returns how many. Internal.';

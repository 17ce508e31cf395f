-- Promises: moves the watermark of the job's key to `upto`, forward only, under the fence: the claim is live and cannot be taken until this transaction
-- ends. Rows that every subscriber has handled are deleted. Returns whether more can be read now. Raises 22023, 25006, 40001, JB001.
-- Locks: as fence; the row of the watermark (only other transactions of the same holder can have it); then as prune_key.
-- `upto` is not compared with the horizon: a producer can read its floor, be delayed, and lock it when rows above were handed out already. That
-- harms nobody (it draws its numbers after locking), but it makes the horizon of now lower than the one those rows were read under.
create or replace function jobs.advance(id bigint, token uuid, upto bigint)
returns boolean
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
    why constant text := jobs.fence_verdict('advance', advance.id, advance.token);
    j record;
    s record;
    mark bigint;
    others bigint;
    next bigint;
begin
    if why is not null then
        perform jobs.lost(advance.id, why);
    end if;
    select r.kind, r.key into j from jobs.job as r where r.id = advance.id;
    select x.stream, coalesce((select w.seq from jobs.watermark as w where w.kind = j.kind and w.key = j.key), x.from_seq) as mark
    into s
    from jobs.subscription as x where x.kind = j.kind;
    if not found or j.key is null then
        raise exception 'advance(): job % replays nothing: its kind (%) must be subscribed to a stream and the job must have a key', advance.id, j.kind
            using errcode = '22023';
    end if;
    if advance.upto is null
        or (
            advance.upto > s.mark and current_setting('transaction_isolation') not in ('repeatable read', 'serializable')
            and not exists (
                select from jobs.outbox as o
                where
                    (o.stream, o.key, o.seq) >= (s.stream, j.key, advance.upto)
                    and (o.stream, o.key, o.seq) <= (s.stream, j.key, advance.upto)
                order by o.stream, o.key, o.seq
                limit 1
            )
        )
    then
        raise exception 'advance(): upto must be the seq of a row that read() returned for this job, not %', coalesce(advance.upto::text, 'null')
            using errcode = '22023';
    end if;
    mark := greatest(s.mark, advance.upto);
    if advance.upto > s.mark then
        insert into jobs.watermark as w (kind, key, seq)
        values (j.kind, j.key, advance.upto)
        on conflict on constraint watermark_pkey do update set seq = greatest(w.seq, advance.upto)
        returning w.seq into mark;
        select min(coalesce((select w.seq from jobs.watermark as w where w.kind = x.kind and w.key = j.key), x.from_seq))
        into others
        from jobs.subscription as x where x.stream = s.stream and x.kind <> j.kind;
        if not jobs.prune_key(s.stream, j.key, least(s.mark, others)) then
            insert into jobs.unpruned (stream, key) values (s.stream, j.key);
        end if;
    end if;
    select o.seq into next
    from jobs.outbox as o
    where (o.stream, o.key, o.seq) > (s.stream, j.key, mark) and (o.stream, o.key, o.seq) <= (s.stream, j.key, 9223372036854775807)
    order by o.stream, o.key, o.seq
    limit 1;
    return found and next <= jobs.horizon(s.stream, j.key);
end;
$$;

comment on function jobs.advance(bigint, uuid, bigint) is
'For the holder of a replay job (id, token), in the transaction of its own writes: every row up to upto is handled. upto: seq of the last row handled, as jobs.read()
returned it; the watermark moves forward, never back. Guards the transaction as jobs.fence() does. Returns true if more can be read now: read on, or
jobs.release(id, token, progress => true). Raises JB001 if the claim is lost; 22023; 25006; 40001 under REPEATABLE READ or SERIALIZABLE.';

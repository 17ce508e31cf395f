-- Promises: the rows of the job's key after its watermark, in the order of seq, and only those before which no row can appear any more. Changes
-- nothing, so it may run in a transaction of its own, rolled back or not. What it does not show yet is not forgotten: the job does not
-- end while committed rows of its key are unread (complete). Raises 22023, 25000 (an old snapshot would miss rows), 25006 (a standby does
-- not see the producers' locks), JB001. Locks nothing.
create or replace function jobs.read(id bigint, token uuid, batch int default 100)
returns setof jobs.outbox
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
    j record;
    s record;
    why text;
    safe bigint;
begin
    perform jobs.guard('read', true);
    if read.id is null or read.token is null then
        raise exception 'read(): id and token must be given, as jobs.claim() returned them (id, claimed_by)' using errcode = '22023';
    end if;
    if read.batch is null or read.batch not between 1 and 10000 then
        raise exception 'read(): batch must be between 1 and 10000, not %', coalesce(read.batch::text, 'null') using errcode = '22023';
    end if;
    select r.kind, r.key, r.state, r.claimed_by, r.claimed_until into j from jobs.job as r where r.id = read.id;
    why := jobs.verdict(read.id, read.token, j.state, j.claimed_by, j.claimed_until, jobs.clock());
    if why is not null then
        perform jobs.lost(read.id, why);
    end if;
    select x.stream, coalesce((select w.seq from jobs.watermark as w where w.kind = j.kind and w.key = j.key), x.from_seq) as mark
    into s
    from jobs.subscription as x where x.kind = j.kind;
    if not found or j.key is null then
        raise exception 'read(): job % replays nothing: its kind (%) must be subscribed to a stream and the job must have a key', read.id, j.kind
            using errcode = '22023';
    end if;
    safe := jobs.horizon(s.stream, j.key);
    -- a statement of its own, with a snapshot taken after that look
    return query
    select o.* from jobs.outbox as o
    where (o.stream, o.key, o.seq) > (s.stream, j.key, s.mark) and (o.stream, o.key, o.seq) <= (s.stream, j.key, safe)
    order by o.stream, o.key, o.seq
    limit read.batch;
end;
$$;

comment on function jobs.read(bigint, uuid, int) is
'For the holder of a replay job (id, token): up to batch (1 to 10000) rows of its key after its watermark, in an order in which no row ever appears before one
that was read. Rows behind an open transaction that published the same key come later. Handle them, then call jobs.advance() in the transaction of the handler''s
own writes. Raises JB001 if the claim is lost; 22023; 25000 under REPEATABLE READ or SERIALIZABLE; 25006.';

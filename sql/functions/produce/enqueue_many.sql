-- Promises: as enqueue for each key, set-based. Repeated keys collapse to the last one. Never waits: keys that are held elsewhere get stored
-- triggers. Raises 22023, 25006, JB002 (on_conflict raise: nothing is enqueued then). Null keys are always inserted.
-- Locks: the gates of its keys (tried, in the order of their numbers), then the live pending rows in id order (skipped if locked).
-- It looks twice: at the live jobs of its keys, and for keys that have none when it inserts. In between a job may end (complete, cancel, expiry),
-- go back to pending or be claimed; and nobody but us can make a job of a key live whose gate we hold. So a key that got a stored trigger
-- after the first look is not inserted after the second, whatever has become of its job: the trigger makes it run, once. A pending job that
-- the first look saw and that is locked now, is ours until we end. A key with an open gate and no job at the first look has none at the second.
-- Under REPEATABLE READ and SERIALIZABLE both looks are old, so every key gets a stored trigger.
create or replace function jobs.enqueue_many(
    kind text,
    keys text[],
    payloads jsonb[] default null,
    run_after timestamptz[] default null,
    priority int default null,
    on_conflict text default 'reset'
)
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
    at constant timestamptz := jobs.clock();
    total constant int := cardinality(enqueue_many.keys);
    present constant boolean := current_setting('transaction_isolation') not in ('repeatable read', 'serializable');
    open_gates int[] := '{}'::int[];
    stored boolean[]; -- by place in keys; null = none
    j record;
begin
    perform jobs.guard('enqueue_many', false);
    perform jobs.check_enqueue(enqueue_many.kind, enqueue_many.priority, null, enqueue_many.on_conflict);
    if enqueue_many.keys is null then
        raise exception 'keys must be an array (its elements may be null), not null' using errcode = '22023';
    end if;
    if cardinality(enqueue_many.payloads) <> total or cardinality(enqueue_many.run_after) <> total then
        raise exception 'payloads and run_after must be null or as long as keys (%), not % and %',
            total, coalesce(cardinality(enqueue_many.payloads)::text, 'null'), coalesce(cardinality(enqueue_many.run_after)::text, 'null')
            using errcode = '22023';
    end if;
    if array_ndims(enqueue_many.keys) > 1 or array_ndims(enqueue_many.payloads) > 1 or array_ndims(enqueue_many.run_after) > 1 then
        raise exception 'keys, payloads and run_after must have one dimension' using errcode = '22023';
    end if;
    if exists (select from unnest(enqueue_many.keys) as k (key) where octet_length(k.key) > 2048) then
        raise exception 'every key must be at most 2048 bytes long' using errcode = '22023';
    end if;
    if exists (select from unnest(enqueue_many.run_after) as r (due) where not isfinite(r.due)) then
        raise exception 'every run_after must be finite' using errcode = '22023';
    end if;

    if present then
        open_gates := array(
            select g.number
            from (
                select distinct jobs.gate_number(k.key) as number
                from unnest(enqueue_many.keys) as k (key)
                where k.key is not null
                order by 1
                offset 0
            ) as g
            where jobs.gate(enqueue_many.kind, g.number)
        );
    end if;

    -- what meets a live job or a closed gate, the last of each key, in the order of the jobs' ids
    for j in
        select a.key, a.place, a.payload, a.due, a.free, l.id, l.state
        from (
            select
                u.key, u.place, u.payload, greatest(coalesce(u.due, at), at) as due,
                row_number() over (partition by u.key order by u.place desc) as nth,
                jobs.gate_number(u.key) = any (open_gates) as free
            from unnest(enqueue_many.keys, enqueue_many.payloads, enqueue_many.run_after) with ordinality as u (key, payload, due, place)
        ) as a
        left join lateral (
            select x.id, x.state from jobs.job as x
            where x.kind = enqueue_many.kind and x.key = a.key and x.state in ('pending', 'running')
            offset 0
        ) as l on true
        where a.key is not null and a.nth = 1 and (l.id is not null or not a.free)
        order by l.id
    loop
        if j.id is not null and enqueue_many.on_conflict = 'raise' then
            raise exception 'a live job of kind % with one of these keys exists: job %, %', enqueue_many.kind, j.id, j.state
                using errcode = 'JB002';
        end if;
        if not present or j.state is distinct from 'pending'
            or jobs.meet_pending(
                j.id, j.payload, j.due, enqueue_many.priority::smallint, null, enqueue_many.on_conflict
            ) is null
        then
            insert into jobs.trigger (kind, key, payload, run_after, priority, on_conflict, created_at)
            values (
                enqueue_many.kind, j.key, j.payload, j.due, enqueue_many.priority,
                case enqueue_many.on_conflict when 'raise' then 'keep' else enqueue_many.on_conflict end, at
            );
            if j.free then
                if stored is null then
                    stored := array_fill(false, array[total]);
                end if;
                stored[j.place] := true;
            end if;
        end if;
    end loop;

    -- the rest: nobody else can make a job of these keys live while we hold their gates
    insert into jobs.job (kind, key, payload, run_after, priority, created_at)
    select enqueue_many.kind, a.key, a.payload, greatest(a.due, c.instant), coalesce(enqueue_many.priority, 0), at
    from (select jobs.clock() as instant offset 0) as c, (
            select
                u.key, u.place, u.payload, greatest(coalesce(u.due, at), at) as due,
                row_number() over (partition by u.key order by u.place desc) as nth,
                jobs.gate_number(u.key) = any (open_gates) as free
            from unnest(enqueue_many.keys, enqueue_many.payloads, enqueue_many.run_after) with ordinality as u (key, payload, due, place)
        ) as a
    where
        a.key is null
        or (
            a.nth = 1 and a.free and stored[a.place] is not true
            and (
                select l.id from jobs.job as l
                where l.kind = enqueue_many.kind and l.key = a.key and l.state in ('pending', 'running')
            ) is null
        );

    return (select count(distinct k.key) + count(*) filter (where k.key is null) from unnest(enqueue_many.keys) as k (key));
end;
$$;

comment on function jobs.enqueue_many(text, text[], jsonb[], timestamptz[], int, text) is
'Enqueues a job for each key in the caller''s transaction, 100,000 in one call if you like. Never waits.
kind: 1 to 128 bytes. keys: repeated ones collapse to the last, each null is a job of its own. payloads, run_after: null, or as long as keys (a null or a time in
the past means now). priority: null = 0. on_conflict as for jobs.enqueue (raise: nothing is enqueued if any key is live).
Returns how many different jobs were asked for (inserted, met or stored). Raises 22023, 25006, JB002.';

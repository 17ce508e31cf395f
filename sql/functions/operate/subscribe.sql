-- Promises: jobs of `kind` replay `stream`, one for each key. The same again changes nothing. Raises 22023 (another stream), 25000, 25006.
-- Locks: the row of the subscription (waits for another session that subscribes the same kind); a floor and the whole stream, as a producer does,
-- until the transaction ends: so that no other subscriber, which does not see this one yet, reads on and deletes rows that are ours. Then as enqueue_many.
-- The boundary for `from_start => false` is the lowest floor at the instant of that lock: what was published by transactions that are open
-- then, or begin later, lies above it.
create or replace function jobs.subscribe(stream text, kind text, from_start boolean default true)
returns void
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
    present text;
    last bigint;
    lowest bigint;
begin
    perform jobs.guard('subscribe', true);
    perform jobs.check_publish(subscribe.stream, '{}');
    perform jobs.check_enqueue(subscribe.kind, 0, null, 'keep');
    if subscribe.from_start is null then
        raise exception 'from_start must be true or false, not null' using errcode = '22023';
    end if;
    select s.stream into present from jobs.subscription as s where s.kind = subscribe.kind;
    if present = subscribe.stream then
        return;
    end if;
    last := jobs.last_seq();
    lowest := least(last, jobs.oldest_floor(last));
    if not (
        pg_try_advisory_xact_lock_shared(1785684601, lowest::bit(32)::int)
        and pg_try_advisory_xact_lock_shared(1785684602, hashtextextended(subscribe.stream, 0)::bit(32)::int)
    ) then
        raise exception 'another program holds the advisory locks 1785684601 or 1785684602 exclusively' using errcode = '55P03';
    end if;
    insert into jobs.subscription (kind, stream, from_seq, awaits, created_at)
    values (
        subscribe.kind, subscribe.stream, case when subscribe.from_start then 0 else lowest end, 9223372036854775807, jobs.clock()
    )
    on conflict on constraint subscription_pkey do nothing;
    if not found then
        select s.stream into present from jobs.subscription as s where s.kind = subscribe.kind;
        if present <> subscribe.stream then
            raise exception 'kind % replays the stream % already and cannot replay % too', subscribe.kind, present, subscribe.stream
                using errcode = '22023';
        end if;
        return;
    end if;
    perform jobs.replay(subscribe.kind, false);
    if not subscribe.from_start then
        -- what no subscriber will read any more can go
        insert into jobs.unpruned (stream, key)
        select distinct o.stream, o.key from jobs.outbox as o where o.stream = subscribe.stream;
    end if;
end;
$$;

comment on function jobs.subscribe(text, text, boolean) is
'Jobs of kind replay the stream from now on: one job for each key, which calls jobs.read() and jobs.advance(). Call it at every start if you like: the same again
changes nothing. stream, kind: 1 to 128 bytes; a kind replays one stream, a stream may have many kinds.
from_start: true = every row that is still there (rows are deleted when all subscribers have handled them; a subscribed kind that nobody works keeps them); false =
the rows of every transaction that is open now or begins later, and perhaps some that were committed while one of these was open.
A REPEATABLE READ or SERIALIZABLE transaction that is open now does not see the subscription: its rows are replayed at the next publish of their key, or by
jobs.maintain(). Raises 22023 (also for another stream), 25000 under REPEATABLE READ or SERIALIZABLE, 25006.';

-- Promises: the job (kind, key) will run after this transaction has committed, at `run_after` or after `delay`. Joins the caller's transaction and
-- never waits for another one: what is held elsewhere gets a stored trigger. Raises 22023, 25006, JB002.
-- A time is compared with the clock once more in the statement that writes it, which holds its table lock by then: see low_bound.
-- Locks: the gate of the key (tried), then the live pending row FOR NO KEY UPDATE (skipped if locked). A running row is never touched.
create or replace function jobs.enqueue(
    kind text,
    key text default null,
    payload jsonb default null,
    run_after timestamptz default null,
    delay interval default null,
    priority int default null,
    max_attempts int default null,
    on_conflict text default 'reset',
    out id bigint,
    out outcome text
)
returns record
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
set timezone = 'UTC' -- a day is 24 hours in every session
as $$
declare
    at constant timestamptz := jobs.clock();
    due timestamptz;
    j record;
begin
    perform jobs.guard('enqueue', false);
    perform jobs.check_enqueue(enqueue.kind, enqueue.priority, enqueue.max_attempts, enqueue.on_conflict);
    if octet_length(enqueue.key) > 2048 then
        raise exception 'key must be at most 2048 bytes long, not %', octet_length(enqueue.key) using errcode = '22023';
    end if;
    if enqueue.run_after is not null and enqueue.delay is not null then
        raise exception 'run_after and delay exclude each other: give one of them' using errcode = '22023';
    end if;
    if not isfinite(enqueue.run_after) or not isfinite(enqueue.delay) or abs(extract(epoch from enqueue.delay)) > 3155760000 then
        raise exception 'run_after and delay must be finite, a delay at most 100 years, not %',
            coalesce(enqueue.run_after::text, enqueue.delay::text)
            using errcode = '22023';
    end if;
    due := greatest(coalesce(enqueue.run_after, at + enqueue.delay, at), at);

    if enqueue.key is null then
        insert into jobs.job (kind, payload, run_after, priority, max_attempts, created_at)
        values (enqueue.kind, enqueue.payload, greatest(due, jobs.clock()), coalesce(enqueue.priority, 0), enqueue.max_attempts, at)
        returning job.id into enqueue.id;
        enqueue.outcome := 'inserted';
        return;
    end if;

    if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
        enqueue.outcome := 'queued';
    else
        select l.id, l.state into j
        from jobs.job as l
        where l.kind = enqueue.kind and l.key = enqueue.key and l.state in ('pending', 'running');
        if not found and jobs.gate(enqueue.kind, jobs.gate_number(enqueue.key)) then
            -- the holder of the gate before us has committed by now, so this look sees what it did
            select l.id, l.state into j
            from jobs.job as l
            where l.kind = enqueue.kind and l.key = enqueue.key and l.state in ('pending', 'running');
            if not found then
                insert into jobs.job (kind, key, payload, run_after, priority, max_attempts, created_at)
                values (
                    enqueue.kind, enqueue.key, enqueue.payload, greatest(due, jobs.clock()), coalesce(enqueue.priority, 0),
                    enqueue.max_attempts, at
                )
                returning job.id into enqueue.id;
                enqueue.outcome := 'inserted';
                return;
            end if;
        end if;
        enqueue.id := j.id;
        if j.id is not null and enqueue.on_conflict = 'raise' then
            raise exception 'a live job of kind % with this key exists: job %, %', enqueue.kind, j.id, j.state using errcode = 'JB002';
        elsif j.state = 'running' then
            enqueue.outcome := 'retriggered';
        elsif j.state = 'pending' then
            enqueue.outcome := coalesce(
                jobs.meet_pending(
                    j.id, enqueue.payload, due, enqueue.priority::smallint, enqueue.max_attempts, enqueue.on_conflict
                ),
                'queued'
            );
        else
            enqueue.outcome := 'queued';
        end if;
    end if;

    if enqueue.outcome in ('queued', 'retriggered') then
        insert into jobs.trigger (kind, key, payload, run_after, priority, max_attempts, on_conflict, created_at)
        values (
            enqueue.kind, enqueue.key, enqueue.payload, due, enqueue.priority, enqueue.max_attempts,
            case enqueue.on_conflict when 'raise' then 'keep' else enqueue.on_conflict end, at
        );
    end if;
end;
$$;

comment on function jobs.enqueue(text, text, jsonb, timestamptz, interval, int, int, text) is
'Enqueues a job in the caller''s transaction; no commit, no job. Never waits.
kind: 1 to 128 bytes. key: up to 2,048 bytes, null = no deduplication. run_after: when (a time in the past means now), or delay: an interval from now.
priority: -32768 to 32767, null = 0, lower first. max_attempts: null = the kind''s, 0 = without limit.
on_conflict, if a live job has the key: reset (run_after becomes the new time, a given payload replaces the old: a debounce, which triggers that never
pause can put off for ever), earliest (only forward in line), keep (leave it), raise (JB002). A running job runs once more in any case but raise.
Returns id (null if not known) and outcome: inserted, reset, kept, retriggered (the job runs: once more after this run), queued (the job or its key is
held by another transaction: stored, folded in when that ends).
Raises 22023 (bad argument), 25006 (read-only), JB002.';

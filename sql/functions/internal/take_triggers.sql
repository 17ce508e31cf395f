-- Promises: removes the stored triggers of a key that are committed and free, and says what they come to, in the order they were stored:
-- reset takes the time of the trigger, earliest the earlier one, keep changes nothing (but is a trigger: the first one decides if there is no
-- time yet, `base` null). Raises nothing. Locks and deletes rows of jobs.trigger, never waiting.
create or replace function jobs.take_triggers(
    kind text,
    key text,
    base timestamptz,
    out taken bigint,
    out run_after timestamptz,
    out payload jsonb,
    out priority smallint,
    out max_attempts int
)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    t record;
begin
    taken := 0;
    run_after := take_triggers.base;
    for t in
        with gone as (
            delete from jobs.trigger as d
            where d.ctid = any (array(
                select s.ctid from jobs.trigger as s
                where s.kind = take_triggers.kind and s.key = take_triggers.key
                for update skip locked
            ))
            returning d.id, d.run_after, d.payload, d.priority, d.max_attempts, d.on_conflict
        )
        select g.* from gone as g order by g.id
    loop
        taken := taken + 1;
        run_after := case
            when run_after is null or t.on_conflict = 'reset' then t.run_after
            when t.on_conflict = 'earliest' then least(run_after, t.run_after)
            else run_after
        end;
        if t.on_conflict <> 'keep' or payload is null then
            payload := coalesce(t.payload, payload);
        end if;
        priority := coalesce(t.priority, priority);
        max_attempts := coalesce(t.max_attempts, max_attempts);
    end loop;
end;
$$;

comment on function jobs.take_triggers(text, text, timestamptz) is
'Removes the stored triggers of (kind, key) and returns how many there were and what they come to. Internal.';

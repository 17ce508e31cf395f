-- Promises: looks at the stored triggers of up to `most` keys, in the order of (kind, key), after the place (kind, key) (nulls = from the first),
-- and folds those whose job does not run. It reads each key once, however many triggers that has, and no more than `most`: where it stopped
-- goes back to the caller, who starts there the next time, so that keys which cannot be folded now (the job runs, or its row is held) hide no
-- others for good. A key that cannot be folded is left for later; one that raises is set aside with a warning that names it.
-- `upto`: it stops behind this kind. `enough`: and when so many are folded. `before`: it passes over keys that came or are due later.
-- Returns how many were folded, and the place where it stopped: null if it saw the last key. Locks as fold_key, key by key.
create or replace function jobs.fold(
    most int,
    inout kind text,
    inout key text,
    upto text default null,
    enough bigint default null,
    before timestamptz default null,
    out folded bigint
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
    k record;
    looked int := 0;
    last_kind constant text := coalesce(fold.upto, (select t.kind from jobs.trigger as t order by t.kind desc limit 1));
begin
    fold.folded := 0;
    for k in
        with recursive stored (kind, key, id, since) as (
            (
                select t.kind, t.key, t.id, greatest(t.created_at, t.run_after) from jobs.trigger as t
                where
                    (t.kind, t.key, t.id)
                    > (coalesce(fold.kind, ''), coalesce(fold.key, ''), case when fold.key is null then 0 else 9223372036854775807 end)
                    and t.kind <= last_kind
                order by t.kind, t.key, t.id
                limit 1
            )
            union all
            select n.kind, n.key, n.id, n.since
            from stored as s
            cross join lateral (
                select t.kind, t.key, t.id, greatest(t.created_at, t.run_after) as since from jobs.trigger as t
                where (t.kind, t.key) > (s.kind, s.key) and t.kind <= last_kind
                order by t.kind, t.key, t.id
                limit 1
            ) as n
        )
        select
            s.kind, s.key, s.since,
            -- not EXISTS, which may be planned as a hash of every running job
            (
                select j.state from jobs.job as j
                where j.kind = s.kind and j.key = s.key and j.state in ('pending', 'running')
            ) as state
        from stored as s
        limit fold.most
    loop
        exit when fold.folded >= fold.enough;
        looked := looked + 1;
        fold.kind := k.kind;
        fold.key := k.key;
        continue when k.state = 'running' or k.since > fold.before;
        begin
            if jobs.fold_key(k.kind, k.key) then
                fold.folded := fold.folded + 1;
            end if;
        exception
            when others then
                raise warning 'stored trigger of kind % key % was set aside: % (%)', k.kind, k.key, sqlerrm, sqlstate;
        end;
    end loop;
    if looked < fold.most and (fold.enough is null or fold.folded < fold.enough) then
        fold.kind := null;
        fold.key := null;
    end if;
end;
$$;

comment on function jobs.fold(int, text, text, text, bigint, timestamptz) is
'Looks at the stored triggers of up to "most" keys after (kind, key) and folds what can be; returns how many were folded and where it stopped. Internal.';

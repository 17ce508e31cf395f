-- Promises: folds the stored triggers of up to `most` keys whose job does not run. A key that cannot be folded now is left for later and stops no
-- other (one that raises is set aside with a warning that names it). Returns how many keys were folded. Locks as fold_key, key by key.
create or replace function jobs.fold(most int)
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
    k record;
    folded bigint := 0;
begin
    for k in
        with recursive stored (kind, key) as (
            (select t.kind, t.key from jobs.trigger as t order by t.kind, t.key limit 1)
            union all
            select n.kind, n.key
            from stored as s
            cross join lateral (
                select t.kind, t.key from jobs.trigger as t
                where (t.kind, t.key) > (s.kind, s.key)
                order by t.kind, t.key
                limit 1
            ) as n
        )
        select s.kind, s.key from stored as s
        where not exists (
            select from jobs.job as j
            where j.kind = s.kind and j.key = s.key and j.state in ('pending', 'running') and j.state = 'running'
        )
        limit fold.most
    loop
        begin
            if jobs.fold_key(k.kind, k.key) then
                folded := folded + 1;
            end if;
        exception
            when others then
                raise warning 'stored trigger of kind % key % was set aside: % (%)', k.kind, k.key, sqlerrm, sqlstate;
        end;
    end loop;
    return folded;
end;
$$;

comment on function jobs.fold(int) is 'Folds the stored triggers of up to "most" keys; returns how many were folded. Internal.';

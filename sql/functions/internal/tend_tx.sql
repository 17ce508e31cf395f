-- The housekeeping of claim_tx. Promises: up to `most` jobs of the kinds (null = every kind) that nobody has made due yet are made so: their lease
-- ended, or a trigger stored for them came and is due, by `before`. A bounded look: where more than a hundred keys of a kind have stored
-- triggers and the first hundred cannot be folded, another hundred from a place taken at random.
-- What it does stays locked until the handler's transaction ends, so the caller asks for no more than it goes on to claim.
-- Returns how many it made due. Waits for nobody. Locks as reap, then as fold.
create or replace function jobs.tend_tx(kinds text[], most int, before timestamptz)
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
    look constant int := 100;
    k record;
    f record;
    r record;
    moved bigint;
begin
    moved := jobs.reap(tend_tx.most, tend_tx.kinds, tend_tx.before);
    for k in
        select w.kind, w.kind as upto
        from unnest(tend_tx.kinds) as w (kind)
        where (select t.id from jobs.trigger as t where t.kind = w.kind order by t.kind, t.key, t.id limit 1) is not null
        union all
        select null, null where tend_tx.kinds is null
    loop
        exit when moved >= tend_tx.most;
        select x.key, x.folded into f from jobs.fold(look, k.kind, null, k.upto, tend_tx.most - moved, tend_tx.before) as x;
        moved := moved + f.folded;
        continue when f.folded > 0 or f.key is null;
        select t.kind, t.key into r
        from jobs.trigger as t
        where t.id >= (
            select b.low + floor(random() * (b.high - b.low + 1))::bigint
            from (
                select
                    (select l.id from jobs.trigger as l order by l.id limit 1) as low,
                    (select h.id from jobs.trigger as h order by h.id desc limit 1) as high
            ) as b
        )
        order by t.id
        limit 1;
        if k.kind is null or r.kind = k.kind then
            select x.folded into f from jobs.fold(look, r.kind, r.key, k.upto, tend_tx.most - moved, tend_tx.before) as x;
            moved := moved + f.folded;
        end if;
    end loop;
    return moved;
end;
$$;

comment on function jobs.tend_tx(text[], int, timestamptz) is
'Makes up to "most" jobs of the kinds due whose lease ended, or whose stored trigger came, by "before"; returns how many. Internal.';

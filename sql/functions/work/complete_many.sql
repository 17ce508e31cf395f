-- Promises: complete for a batch in one round trip: a lost claim gives false, the others complete. One row per entry, in the order given.
-- Raises 22023, 25006. Locks: the rows in id order (by complete).
create or replace function jobs.complete_many(ids bigint[], tokens uuid[])
returns table (id bigint, completed boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    at constant timestamptz := jobs.clock();
    settled text[];
    j record;
begin
    perform jobs.guard('complete_many', false);
    if complete_many.ids is null or complete_many.tokens is null or cardinality(complete_many.ids) <> cardinality(complete_many.tokens)
    then
        raise exception 'ids and tokens must be arrays of one length, not % and %',
            coalesce(cardinality(complete_many.ids)::text, 'null'), coalesce(cardinality(complete_many.tokens)::text, 'null')
            using errcode = '22023';
    end if;
    -- all that are live are locked first, in id order; the plain ones (not triggered, of kinds that keep no history and replay nothing) go at once
    with mine as materialized (
        select l.place, l.kind, l.key
        from (select distinct u.id, u.token from unnest(complete_many.ids, complete_many.tokens) as u (id, token) order by u.id) as c
        cross join lateral (
            select r.ctid as place, r.kind, r.key from jobs.job as r
            where r.id = c.id and r.state || '' = 'running' and r.claimed_by = c.token and r.claimed_until > at
            for update
        ) as l
    ),

    deleted as (
        delete from jobs.job as d
        where d.ctid = any (array(
            select m.place from mine as m
            where
                not exists (select from jobs.trigger as t where t.kind = m.kind and t.key = m.key)
                and not exists (select from jobs.kind as k where k.kind = m.kind and k.keep_done > interval '0 s')
                and not exists (select from jobs.subscription as s where s.kind = m.kind)
        ))
        returning d.id, d.claimed_by
    )

    select coalesce(array_agg(d.id || ' ' || d.claimed_by), '{}') into settled from deleted as d;

    for j in
        select distinct u.id, u.token from unnest(complete_many.ids, complete_many.tokens) as u (id, token)
        where u.id is not null and u.token is not null and u.id || ' ' || u.token <> all (settled)
        order by u.id
    loop
        begin
            perform jobs.complete(j.id, j.token);
            settled := settled || (j.id || ' ' || j.token);
        exception
            when sqlstate 'JB001' then
                null;
        end;
    end loop;

    return query
    select u.id, coalesce(u.id || ' ' || u.token = any (settled), false)
    from unnest(complete_many.ids, complete_many.tokens) with ordinality as u (id, token, place)
    order by u.place;
end;
$$;

comment on function jobs.complete_many(bigint[], uuid[]) is
'Completes many claims in one call. ids and tokens: arrays of one length. Returns (id, completed) for each entry in the order given; false = that claim is lost,
the others are completed all the same. Raises 22023, 25006.';

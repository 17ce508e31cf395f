-- Promises: the heartbeat of a batch: each live claim gets a full lease from now. One row per entry in the order given; a lost claim has claimed_until null.
-- Never waits: a row that the holder's own transaction has locked (it completes, say) keeps its claimed_until, and is reported with it while that lasts.
-- Raises 22023, 25006. Locks: the rows FOR NO KEY UPDATE in id order, skipping locked ones.
create or replace function jobs.extend_many(ids bigint[], tokens uuid[], lease interval default null)
returns table (id bigint, claimed_until timestamptz, cancelled boolean)
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
#variable_conflict use_column
declare
    at timestamptz;
begin
    perform jobs.guard('extend', false);
    if extend_many.ids is null or extend_many.tokens is null or cardinality(extend_many.ids) <> cardinality(extend_many.tokens) then
        raise exception 'ids and tokens must be arrays of one length, not % and %',
            coalesce(cardinality(extend_many.ids)::text, 'null'), coalesce(cardinality(extend_many.tokens)::text, 'null')
            using errcode = '22023';
    end if;
    if extend_many.lease <= interval '0 s' or extend_many.lease > interval '7 days' then
        raise exception 'lease must be longer than 0 and at most 7 days, not %', extend_many.lease using errcode = '22023';
    end if;
    at := jobs.clock();
    update jobs.job as j
    set
        claimed_until = greatest(
            at + coalesce(extend_many.lease, (select k.lease from jobs.kind as k where k.kind = j.kind), interval '60 s'), jobs.clock()
        )
    where j.ctid = any (array(
        select l.place
        from (select distinct u.id, u.token from unnest(extend_many.ids, extend_many.tokens) as u (id, token) order by u.id) as c
        cross join lateral (
            select r.ctid as place from jobs.job as r
            where r.id = c.id and r.state || '' = 'running' and r.claimed_by = c.token and r.claimed_until > at
            for no key update skip locked
        ) as l
    ));
    return query
    select
        u.id,
        case when j.state = 'running' and j.claimed_by = u.token and j.claimed_until > at then j.claimed_until end,
        coalesce(j.state = 'cancelled' and j.claimed_by = u.token, false)
    from unnest(extend_many.ids, extend_many.tokens) with ordinality as u (id, token, place)
    left join lateral (select r.* from jobs.job as r where r.id = u.id offset 0) as j on true
    order by u.place;
end;
$$;

comment on function jobs.extend_many(bigint[], uuid[], interval) is
'Heartbeat of many claims: each live one gets a full lease from now. lease: longer than 0, at most 7 days; null = the kind''s. Returns (id, claimed_until, cancelled) in
the order given; a lost claim has claimed_until null, cancelled says that an operator cancelled it. Never waits. Raises 22023, 25006.';

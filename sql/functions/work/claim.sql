-- Promises: up to `batch` due jobs, lowest priority number first, then run_after, then id, each with a fresh token and a full lease that starts now.
-- Never more than `batch`, under any plan: the rows are locked first, by a subquery that runs once, and then updated by their place.
-- A job that is out of attempts is failed instead. Housekeeping rides along (jobs.tend). Raises 22023, 25000, 25006.
-- Locks: as tend; then the rows it takes FOR UPDATE, skipping locked ones. Never waits.
create or replace function jobs.claim(
    kinds text[] default null,
    batch int default 1,
    lease interval default null,
    worker text default null
)
returns setof jobs.job
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
    at timestamptz;
    width int;
    found_ids bigint[];
    picked bigint[];
    places tid[];
    taken int := 0;
    n int;
    looked boolean := false;
begin
    perform jobs.check_claim('claim', claim.batch, claim.lease, claim.worker);
    if cardinality(claim.kinds) = 0 then
        return;
    end if;
    width := claim.batch + 16;
    perform jobs.tend(false);
    loop
        at := jobs.clock();
        found_ids := jobs.find(claim.kinds, width, at, '{}');
        select array_agg(x.place), array_agg(x.id) into places, picked
        from (
            select j.ctid as place, j.id
            from unnest(found_ids) as f (id)
            cross join lateral (
                select r.ctid, r.id from jobs.job as r
                where r.id = f.id and r.state || '' = 'pending' and r.run_after <= at
                for update skip locked
            ) as j
            limit claim.batch - taken
        ) as x;
        if places is not null then
            return query
            with taking as (
                update jobs.job as j
                set
                    state = 'running', claimed_by = gen_random_uuid(), claimed_at = at, epoch = nextval('jobs.epoch'), worker = claim.worker,
                    claimed_until = greatest(at + coalesce(claim.lease, (select k.lease from jobs.kind as k where k.kind = j.kind), interval '60 s'), jobs.clock())
                where
                    j.ctid = any (places)
                    and (
                        j.attempts
                        < coalesce(nullif(coalesce(j.max_attempts, (select k.max_attempts from jobs.kind as k where k.kind = j.kind), 20), 0), 2147483647)
                    )
                returning j.*
            )
            select t.* from taking as t order by t.priority, t.run_after, t.id;
            get diagnostics n = row_count;
            taken := taken + n;
            if n < cardinality(places) then
                continue when jobs.set_aside(picked) > 0 and taken < claim.batch;
            end if;
        end if;
        exit when taken >= claim.batch;
        if cardinality(found_ids) < width then
            -- all that is due was seen: look once for what the housekeeping can still make due
            exit when looked or not jobs.tend(true);
            looked := true;
        elsif places is null then
            exit when width > 100000;
            width := width * 4;
        end if;
    end loop;
end;
$$;

comment on function jobs.claim(text[], int, interval, text) is
'Claims up to batch (1 to 1000) due jobs of the kinds (null = every kind; paused ones never), lowest priority first, then run_after, then id.
lease: how long (longer than 0, at most 7 days); null = the kind''s. worker: a label, up to 256 bytes. Returns the jobs; (id, claimed_by) is the proof of each claim.
Write select * from jobs.claim(), not select (jobs.claim()).*, which would claim once per column.
Raises 22023; 25000 under REPEATABLE READ or SERIALIZABLE; 25006 in a read-only transaction. Commit at once: until then nobody else sees the claim.';

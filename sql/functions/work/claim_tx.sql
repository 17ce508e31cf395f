-- Promises: the transaction lease. The rows of up to `batch` due jobs are locked FOR UPDATE until this transaction ends, and that lock is the lease: they
-- are not changed, and are returned as running, with a token that holds for this transaction only and no claimed_until. A job that this
-- transaction holds already, or has finished, is not returned again. Raises 22023, 25000, 25006.
-- A row that another session claims while we reach for it would stay locked until our transaction ends: so the locks are taken in a block that is
-- rolled back, and tried again, if a row turns out to be no longer due. Locks: the rows, skipping locked ones. Never waits, never ticks.
create or replace function jobs.claim_tx(kinds text[] default null, batch int default 1)
returns setof jobs.job
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
    at timestamptz;
    held bigint[];
    found_ids bigint[];
    passed bigint[] := '{}'::bigint[];
    width int;
    j jobs.job;
    kept jobs.job[];
    taken int := 0;
    tries int := 0;
    aside boolean;
begin
    perform jobs.check_claim('claim_tx', claim_tx.batch, null, null);
    if cardinality(claim_tx.kinds) = 0 then
        return;
    end if;
    width := claim_tx.batch + 16;
    held := jobs.tx_held();
    loop
        aside := false;
        at := jobs.clock();
        found_ids := jobs.find(claim_tx.kinds, width, at, held || passed);
        begin
            kept := '{}';
            for j in
                select x.* from unnest(found_ids) as f (id)
                cross join lateral (select r.* from jobs.job as r where r.id = f.id for update skip locked) as x
                limit claim_tx.batch - taken
            loop
                if j.state <> 'pending' or j.run_after > at then
                    raise exception 'taken meanwhile' using errcode = 'JB000';
                end if;
                kept := kept || j;
            end loop;
        exception
            when sqlstate 'JB000' then
                tries := tries + 1;
                exit when tries > 100;
                continue;
        end;
        foreach j in array kept loop
            if jobs.set_aside(array[j.id]) > 0 then
                aside := true;
                continue;
            end if;
            held := held || j.id;
            taken := taken + 1;
            j.state := 'running';
            j.claimed_by := jobs.tx_token(j.id);
            j.claimed_at := at;
            j.claimed_until := null;
            j.epoch := nextval('jobs.epoch');
            return next j;
        end loop;
        perform set_config('jobs.held', held::text, true);
        continue when aside and taken < claim_tx.batch;
        exit when taken >= claim_tx.batch or cardinality(found_ids) < width;
        if cardinality(kept) = 0 then
            exit when width > 100000;
            width := width * 4;
        end if;
    end loop;
end;
$$;

comment on function jobs.claim_tx(text[], int) is
'Claims up to batch (1 to 1000) due jobs by a lock of the caller''s own transaction: commit or crash ends the claim. For handlers that do one bounded step in one
transaction; never for one that calls something remote. complete, fail, release and fence take the token (claimed_by) in this transaction only.
Run the handler in a savepoint, so that fail() after an error still stands in the transaction that holds the job.
May be called again: never returns a job that this transaction holds or has finished. Raises 22023; 25000 under REPEATABLE READ or SERIALIZABLE; 25006 if read-only.';

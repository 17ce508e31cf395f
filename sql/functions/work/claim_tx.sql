-- Promises: the transaction lease. The rows of up to `batch` due jobs are locked FOR UPDATE until this transaction ends, and that lock is the lease: they
-- are not changed, and are returned as running, with a token that holds for this transaction only and no claimed_until. A job that this
-- transaction holds already, or has finished, is not returned again. Raises 22023, 25000, 25006.
-- A row that another session claims while we reach for it would stay locked until our transaction ends: so the locks are taken in a block that is
-- rolled back, and tried again, if a row turns out to be no longer due.
-- Housekeeping rides along, but what it does stays uncommitted, and its rows locked, as long as the handler works. So:
-- * While enough jobs are due, nothing is touched but them. Only an expired lease or a stored trigger of these kinds that nobody has looked
--   after for a second (every worker is busy, none ever finds the queue empty) is made due, one a call; it is the one job that this
--   transaction may hold besides those that it returns.
-- * If fewer are due, expired leases are ended and stored triggers folded for as many jobs of these kinds as this call can still return, and
--   those are returned: what is locked is what is claimed. Another worker finds the next ones.
-- * If that gives nothing either, and this transaction holds no job, it will end soon: the tick that rides along with claim does so here.
-- A rollback undoes it all; the next call does it again. Locks: as tend_tx; the rows, skipping locked ones; as tend. Never waits.
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
    rounds int := 0;
    aside boolean;
begin
    perform jobs.check_claim('claim_tx', claim_tx.batch, null, null);
    if cardinality(claim_tx.kinds) = 0 then
        return;
    end if;
    width := claim_tx.batch + 16;
    held := jobs.tx_held();
    perform jobs.tend_tx(claim_tx.kinds, 1, jobs.clock() - interval '1 s');
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
        exit when taken >= claim_tx.batch;
        if cardinality(found_ids) < width then
            -- all that is due was seen: look for as much as is still wanted among what can be made due
            rounds := rounds + 1;
            exit when rounds > 100 or jobs.tend_tx(claim_tx.kinds, claim_tx.batch - taken, jobs.clock()) = 0;
        elsif cardinality(kept) = 0 then
            exit when width > 100000;
            width := width * 4;
        end if;
    end loop;
    if cardinality(held) = 0 then
        perform jobs.tend(false);
    end if;
end;
$$;

comment on function jobs.claim_tx(text[], int) is
'Claims up to batch (1 to 1000) due jobs by a lock of the caller''s own transaction: commit or crash ends the claim. For handlers that do one bounded step in one
transaction; never for one that calls something remote. complete, fail, release and fence take the token (claimed_by) in this transaction only.
Run the handler in a savepoint, so that fail() after an error still stands in the transaction that holds the job.
Ends expired leases and folds stored triggers as far as it returns their jobs; when it returns nothing, end the transaction soon.
May be called again: never returns a job that this transaction holds or has finished. Raises 22023; 25000 under REPEATABLE READ or SERIALIZABLE; 25006 if read-only.';

-- Promises: an ended job runs again: pending, due now, attempts 0; its last_error stays. If a newer live job has its key nothing changes (that one does the
-- work). Raises 22023, 25000, 25006. Locks: the row FOR UPDATE (skipped if locked: busy), then the gate of the key (tried: busy). Never waits.
create or replace function jobs.retry(id bigint)
returns text
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
    j jobs.job;
begin
    perform jobs.guard('retry', true);
    if retry.id is null then
        raise exception 'retry(): id must be given' using errcode = '22023';
    end if;
    select r.* into j from jobs.job as r where r.id = retry.id for update skip locked;
    if not found then
        return case when exists (select from jobs.job as r where r.id = retry.id) then 'busy' else 'missing' end;
    end if;
    if j.state in ('pending', 'running') then
        return j.state;
    end if;
    if j.key is not null then
        if not jobs.gate(j.kind, jobs.gate_number(j.key)) then
            return 'busy';
        end if;
        if exists (
            select from jobs.job as l where l.kind = j.kind and l.key = j.key and l.state in ('pending', 'running')
        ) then
            return 'live';
        end if;
    end if;
    update jobs.job as u
    set state = 'pending', run_after = jobs.clock(), attempts = 0, finished_at = null, result = null, claimed_by = null, claimed_until = null
    where u.id = retry.id;
    return 'retried';
end;
$$;

comment on function jobs.retry(bigint) is
'Runs a failed, cancelled or done job again: pending, due now, attempts 0. Returns retried; live (a newer live job has its key: nothing changed, that one does the
work); pending or running (it is live itself); busy (a transaction holds the job or its key: try again when that ends); missing. Raises 22023, 25000, 25006.';

-- Promises: a live job is cancelled: a pending one never runs, the holder of a running one learns it at its next extend and its fenced writes are refused from
-- now on. A re-trigger that came while it ran is not lost: a fresh job takes it. Raises 22023, 25000, 25006.
-- Locks: the row FOR UPDATE (skipped if locked: busy), then tries the gate of the key. Never waits.
create or replace function jobs.cancel(id bigint)
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
    perform jobs.guard('cancel', true);
    if cancel.id is null then
        raise exception 'cancel(): id must be given' using errcode = '22023';
    end if;
    select r.* into j from jobs.job as r where r.id = cancel.id for update skip locked;
    if not found then
        return case when exists (select from jobs.job as r where r.id = cancel.id) then 'busy' else 'missing' end;
    end if;
    if j.state not in ('pending', 'running') then
        return j.state;
    end if;
    update jobs.job as u set state = 'cancelled', finished_at = jobs.clock(), claimed_until = null where u.id = cancel.id;
    if j.key is not null then
        perform jobs.fold_key(j.kind, j.key);
    end if;
    return 'cancelled';
end;
$$;

comment on function jobs.cancel(bigint) is
'Cancels a live job. Returns cancelled; busy (a transaction holds it: try again when that ends); missing; or the state in which it already ended (done, failed,
cancelled). The holder of a running job learns it at its next extend, and its fenced writes are refused from now on. Raises 22023, 25000, 25006.';

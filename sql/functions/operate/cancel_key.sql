-- Promises: cancel for the live job of a key; missing if there is none. Raises and locks as cancel.
create or replace function jobs.cancel_key(kind text, key text)
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
    live bigint;
begin
    perform jobs.guard('cancel_key', true);
    if cancel_key.kind is null or cancel_key.key is null then
        raise exception 'cancel_key(): kind and key must be given' using errcode = '22023';
    end if;
    select j.id into live from jobs.job as j
    where j.kind = cancel_key.kind and j.key = cancel_key.key and j.state in ('pending', 'running');
    if not found then
        return 'missing';
    end if;
    return jobs.cancel(live);
end;
$$;

comment on function jobs.cancel_key(text, text) is
'Cancels the live job of this kind and key, as jobs.cancel does; missing if there is none. Raises 22023, 25000, 25006.';

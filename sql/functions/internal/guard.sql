-- Refuses what would give a wrong answer. Raises 25006 in a read-only transaction or on a standby, and 25000 in REPEATABLE READ or
-- SERIALIZABLE (its snapshot is old: it would hand out jobs by a picture of the past) where the verb needs to see the present. Locks nothing.
create or replace function jobs.guard(verb text, needs_present boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('transaction_read_only')::boolean then
        raise exception '%() cannot run in a read-only transaction or on a standby', guard.verb
            using errcode = '25006', hint = 'Call it on the primary, in a transaction that may write.';
    end if;
    if guard.needs_present and current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
        raise exception '%() needs READ COMMITTED, this transaction is %', guard.verb, upper(current_setting('transaction_isolation'))
            using errcode = '25000', hint = 'BEGIN ISOLATION LEVEL READ COMMITTED, or SET default_transaction_isolation.';
    end if;
end;
$$;

comment on function jobs.guard(text, boolean) is
'Raises 25006 where nothing can be written, and 25000 under REPEATABLE READ or SERIALIZABLE if the verb needs to see the present. Internal.';

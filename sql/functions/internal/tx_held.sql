-- The jobs that this transaction has claimed by claim_tx, finished ones among them. They stand in a transaction-local setting, which a
-- rollback to a savepoint sets back together with the row locks. A forged entry proves nothing: the token must be right too.
create or replace function jobs.tx_held()
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    noted constant text := current_setting('jobs.held', true);
begin
    if noted is null or noted !~ '^{[0-9]{1,18}(,[0-9]{1,18})*}$' then
        return '{}'::bigint[];
    end if;
    return noted::bigint[];
end;
$$;

comment on function jobs.tx_held() is 'Ids of the jobs claimed by claim_tx in this transaction. Internal.';

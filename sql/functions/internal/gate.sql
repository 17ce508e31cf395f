-- The right to make a job of this key live (insert it, or bring it back): an advisory lock kept until the transaction ends. Nobody waits for
-- it: who does not get it stores a trigger. With it the insert below the unique index meets no row of a transaction in progress, so it
-- cannot wait either. There are 256 gates per kind, shared by hash, so that no call, however large, fills the lock table.
create or replace function jobs.gate(kind text, number int)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return pg_try_advisory_xact_lock(1785684596, (hashtext(gate.kind) & -256) | gate.number);
end;
$$;

comment on function jobs.gate(text, int) is
'Tries to take gate `number` (0 to 255) of the kind until the end of the transaction; false if another transaction has it. Internal.';

-- Raises JB001 with the reason. Locks nothing.
create or replace function jobs.lost(id bigint, why text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'claim of job % is lost: %', coalesce(lost.id::text, 'null'), lost.why
        using errcode = 'JB001', hint = 'Drop the work of this attempt: roll back what was written under this claim.';
end;
$$;

comment on function jobs.lost(bigint, text) is 'Raises JB001: the claim is lost, and why. Internal.';

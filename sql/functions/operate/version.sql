-- Promises: the version of the functions that are installed. Raises nothing, locks nothing.
create or replace function jobs.version()
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select '0.1.0';
$$;

comment on function jobs.version() is 'Version of pgclaim whose functions are installed in this database.';

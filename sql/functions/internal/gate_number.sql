-- Which gate a key has. Locks nothing, raises nothing.
create or replace function jobs.gate_number(key text)
returns int
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select hashtext(gate_number.key) & 255;
$$;

comment on function jobs.gate_number(text) is 'Number of the gate of a key, 0 to 255. Internal.';

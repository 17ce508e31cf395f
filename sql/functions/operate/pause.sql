-- Promises: no job of the kind is claimed from the moment this transaction commits; running ones go on. Raises 22023, 25006. Locks: the row of the kind.
create or replace function jobs.pause(kind text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform jobs.define(pause.kind);
    update jobs.kind as k set paused = true where k.kind = pause.kind;
end;
$$;

comment on function jobs.pause(text) is 'Stops claims of a kind (running jobs go on, enqueues are kept) until jobs.resume(kind). Raises 22023, 25006.';

-- Promises: jobs of the kind are claimed again. Raises 22023, 25006. Locks: the row of the kind.
create or replace function jobs.resume(kind text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform jobs.define(resume.kind);
    update jobs.kind as k set paused = false where k.kind = resume.kind;
end;
$$;

comment on function jobs.resume(text) is 'Lets jobs of a paused kind be claimed again. Raises 22023, 25006.';

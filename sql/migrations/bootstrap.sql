-- What has to be there before the first migration: the schema and the list of migrations that ran.
-- Safe to run any number of times; a schema that an administrator made beforehand is used as it is.

do $$
begin
    if to_regnamespace('jobs') is null then
        create schema jobs;
    end if;
end;
$$;

create table if not exists jobs.migration (
    version int primary key,
    name text not null,
    applied_at timestamptz not null default clock_timestamp()
);

do $$
declare
    newest constant int := 3;
    present constant int := (select max(m.version) from jobs.migration as m);
begin
    if present > newest then
        raise exception 'this database has version % of the schema jobs and the files know only %', present, newest
            using errcode = '55000', hint = 'Install with the release of pgclaim that made it, or a newer one.';
    end if;
end;
$$;

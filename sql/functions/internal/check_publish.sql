-- The checks that publish, publish_many and subscribe share. Raises 22023 naming the argument. Locks nothing.
create or replace function jobs.check_publish(stream text, keys text[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    key text;
begin
    if check_publish.stream is null or octet_length(check_publish.stream) not between 1 and 128 then
        raise exception 'stream must be 1 to 128 bytes long, not %', coalesce(octet_length(check_publish.stream)::text, 'null')
            using errcode = '22023';
    end if;
    foreach key in array check_publish.keys loop
        if key is null or octet_length(key) > 2048 then
            raise exception 'key must be at most 2048 bytes long and not null, not %', coalesce(octet_length(key)::text, 'null')
                using errcode = '22023';
        end if;
    end loop;
end;
$$;

comment on function jobs.check_publish(text, text[]) is 'Raises 22023 for a stream or keys that cannot be published. Internal.';

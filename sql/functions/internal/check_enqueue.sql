-- The checks that enqueue and enqueue_many share. Raises 22023 naming the argument. Locks nothing.
create or replace function jobs.check_enqueue(kind text, priority int, max_attempts int, on_conflict text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if check_enqueue.kind is null or octet_length(check_enqueue.kind) not between 1 and 128 then
        raise exception 'kind must be 1 to 128 bytes long, not %', coalesce(octet_length(check_enqueue.kind)::text, 'null')
            using errcode = '22023';
    end if;
    if check_enqueue.priority not between -32768 and 32767 then
        raise exception 'priority must be between -32768 and 32767, not %', check_enqueue.priority using errcode = '22023';
    end if;
    if check_enqueue.max_attempts < 0 then
        raise exception 'max_attempts must be 0 (without limit) or more, not %', check_enqueue.max_attempts using errcode = '22023';
    end if;
    if check_enqueue.on_conflict is null or check_enqueue.on_conflict not in ('reset', 'earliest', 'keep', 'raise') then
        raise exception 'on_conflict must be reset, earliest, keep or raise, not %', coalesce(check_enqueue.on_conflict, 'null')
            using errcode = '22023';
    end if;
end;
$$;

comment on function jobs.check_enqueue(text, int, int, text) is 'Raises 22023 for bad arguments of enqueue and enqueue_many. Internal.';

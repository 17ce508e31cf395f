-- The checks that the claiming verbs share. Raises 22023 naming the argument, and what guard raises. Locks nothing.
create or replace function jobs.check_claim(verb text, batch int, lease interval, worker text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if check_claim.batch is null or check_claim.batch not between 1 and 1000 then
        raise exception '%(): batch must be between 1 and 1000, not %', check_claim.verb, coalesce(check_claim.batch::text, 'null')
            using errcode = '22023';
    end if;
    if check_claim.lease <= interval '0 s' or check_claim.lease > interval '7 days' then
        raise exception '%(): lease must be longer than 0 and at most 7 days, not %', check_claim.verb, check_claim.lease
            using errcode = '22023';
    end if;
    if octet_length(check_claim.worker) > 256 then
        raise exception '%(): worker must be at most 256 bytes long, not %', check_claim.verb, octet_length(check_claim.worker)
            using errcode = '22023';
    end if;
    perform jobs.guard(check_claim.verb, true);
end;
$$;

comment on function jobs.check_claim(text, int, interval, text) is 'Raises 22023, 25000 or 25006 for what a claiming verb cannot take. Internal.';

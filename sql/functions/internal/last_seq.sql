-- Promises: the last number that the outbox has given out, read now, whatever the snapshot. A sequence that is behind the data (a restored dump, a
-- promoted logical replica) is moved forward first: otherwise new rows would be numbered below rows and watermarks that are there, and be skipped.
-- Each of the three looks is one step into an index, beyond its end. Locks: only where the sequence is behind, an advisory lock (tried) until the
-- transaction ends, so that no two sessions set the sequence at once. Raises 55000 if that cannot be had.
create or replace function jobs.last_seq()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    last bigint := coalesce(pg_sequence_last_value('jobs.outbox_seq'), 0);
    newest bigint;
begin
    newest := greatest(
        (select o.seq from jobs.outbox as o where o.seq > last order by o.seq desc limit 1),
        (select w.seq from jobs.watermark as w where w.seq > last order by w.seq desc limit 1),
        (select max(s.from_seq) from jobs.subscription as s where s.from_seq > last)
    );
    if newest is null then
        return last;
    end if;
    for n in 1 .. 1000 loop
        -- rows that were numbered since the first look are the usual case
        last := coalesce(pg_sequence_last_value('jobs.outbox_seq'), 0);
        if last >= newest then
            return last;
        end if;
        if pg_try_advisory_xact_lock(1785684595, 2) and coalesce(pg_sequence_last_value('jobs.outbox_seq'), 0) < newest then
            perform setval('jobs.outbox_seq', newest);
        end if;
    end loop;
    raise exception 'the sequence jobs.outbox_seq is at % and the data at %', last, newest using errcode = '55000';
end;
$$;

comment on function jobs.last_seq() is 'Last number that the outbox has given out, the sequence set right if it is behind the data. Internal.';

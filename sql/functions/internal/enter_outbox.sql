-- Promises: before a transaction draws its first number for a stream and key, it shows that it may, and from where on: readers see by its locks that
-- rows above its floor may still appear (see horizon, which has the proof). Locks, shared, until the transaction ends, so that nobody waits:
-- first the floor (1785684601, last number given out), then the key (1785684602, hash of stream and key). One floor serves the whole transaction;
-- after eight keys it is the stream that is locked, after eight more all streams. Nothing fills the lock table.
-- What is locked stands in a transaction-local setting, which a rollback to a savepoint sets back together with the locks. It is a hint:
-- all locks are taken again each time (which costs nothing if they are held), so a forged one can only lower the floor.
-- The floor is kept to 32 bits: fewer than 2^31 rows may be published while one producer's transaction is open.
create or replace function jobs.enter_outbox(stream text, keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    last constant bigint := coalesce(pg_sequence_last_value('jobs.outbox_seq'), 0);
    noted constant text := current_setting('jobs.published', true);
    whole constant bigint := hashtextextended(enter_outbox.stream, 0);
    spots int[];
    marks bigint[];
    spot int;
    changed boolean := false;
begin
    if noted ~ '^{[0-9]{1,18}(,-?[0-9]{1,10}){0,17}}$' then
        marks := noted::bigint[];
    end if;
    if marks is null or marks[1] not between last - 1000000000 and last then
        marks := array[jobs.last_seq()];
        changed := true;
    end if;
    if not pg_try_advisory_xact_lock_shared(1785684601, marks[1]::bit(32)::int) then
        raise exception 'another program holds the advisory locks 1785684601 exclusively' using errcode = '55P03';
    end if;
    if cardinality(enter_outbox.keys) > 8 then
        spots := array[whole::bit(32)::int];
    else
        spots := array(select distinct hashtextextended(k.key, whole)::bit(32)::int from unnest(enter_outbox.keys) as k (key));
    end if;
    foreach spot in array spots loop
        if spot <> all (marks[2:]) then
            if cardinality(marks) > 8 then
                spot := whole::bit(32)::int;
            end if;
            if cardinality(marks) > 16 and spot <> all (marks[2:]) then
                spot := 0;
            end if;
            if spot <> all (marks[2:]) then
                marks := marks || spot::bigint;
                changed := true;
            end if;
        end if;
        if not pg_try_advisory_xact_lock_shared(1785684602, spot) then
            raise exception 'another program holds the advisory locks 1785684602 exclusively' using errcode = '55P03';
        end if;
    end loop;
    if changed then
        perform set_config('jobs.published', marks::text, true);
    end if;
end;
$$;

comment on function jobs.enter_outbox(text, text[]) is
'Shows readers that this transaction may add rows of these keys, by shared locks taken before their numbers are drawn. Internal.';

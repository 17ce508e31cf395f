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
as $$
declare
    last constant bigint := coalesce(pg_sequence_last_value('jobs.outbox_seq'), 0);
    whole constant bigint := hashtextextended(enter_outbox.stream, 0);
    every constant boolean := cardinality(enter_outbox.keys) > 8;
    known constant text := current_setting('jobs.published', true);
    noted text := known; -- floor,spot,spot,…,
    head constant text := split_part(known, ',', 1);
    floor bigint;
    taken int;
    entry text;
    spot int;
begin
    if length(head) between 1 and 18 and translate(head, '0123456789', '') = '' and right(known, 1) = ',' then
        floor := head::bigint;
    end if;
    if floor is null or floor not between last - 1000000000 and last then
        floor := jobs.last_seq();
        noted := floor || ',';
    end if;
    if not pg_try_advisory_xact_lock_shared(1785684601, floor::bit(32)::int) then
        raise exception 'another program holds the advisory locks 1785684601 exclusively' using errcode = '55P03';
    end if;
    foreach entry in array enter_outbox.keys loop
        spot := case when every then whole else hashtextextended(entry, whole) end::bit(32)::int;
        if strpos(noted, ',' || spot || ',') = 0 then
            taken := length(noted) - length(replace(noted, ',', '')) - 1;
            if taken >= 8 then
                spot := whole::bit(32)::int;
            end if;
            if strpos(noted, ',' || spot || ',') = 0 then
                if taken >= 16 then
                    spot := 0;
                end if;
                if taken < 16 or strpos(noted, ',0,') = 0 then
                    noted := noted || spot || ',';
                end if;
            end if;
        end if;
        if not pg_try_advisory_xact_lock_shared(1785684602, spot) then
            raise exception 'another program holds the advisory locks 1785684602 exclusively' using errcode = '55P03';
        end if;
        exit when every;
    end loop;
    if noted is distinct from known then
        perform set_config('jobs.published', noted, true);
    end if;
end;
$$;

comment on function jobs.enter_outbox(text, text[]) is
'Shows readers that this transaction may add rows of these keys, by shared locks taken before their numbers are drawn. Internal.';

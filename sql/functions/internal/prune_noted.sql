-- Promises: deletes what advances had to leave behind (jobs.unpruned), for up to `most` notes; a note whose key is still in use stays. Returns how
-- many notes are done. Locks: the notes, skipping locked ones; then as prune_key.
create or replace function jobs.prune_noted(most int)
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
    n record;
    done bigint := 0;
begin
    for n in
        select u.id, u.stream, u.key from jobs.unpruned as u order by u.id limit prune_noted.most for update skip locked
    loop
        begin
            if jobs.prune_key(n.stream, n.key, -1) then
                delete from jobs.unpruned as d where d.id = n.id;
                done := done + 1;
            end if;
        exception
            when others then
                raise warning 'rows of stream % key % could not be deleted: % (%)', n.stream, n.key, sqlerrm, sqlstate;
        end;
    end loop;
    return done;
end;
$$;

comment on function jobs.prune_noted(int) is 'Deletes handled rows of the outbox that were left behind; returns for how many notes. Internal.';

-- Promises: looks after subscriptions that producers in flight did not know when they published. Once none of these is left, every key with
-- unread rows gets its job. A producer whose floor is above a number read after the subscription was visible sees it. (The subscribing transaction has
-- a floor itself, so nothing is settled before it has ended.) Returns how many jobs were made.
-- Locks: the rows of these subscriptions, skipping locked ones; then as enqueue_many.
create or replace function jobs.settle()
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
    s record;
    last bigint;
    made bigint := 0;
begin
    for s in
        select x.kind, x.awaits from jobs.subscription as x where x.awaits is not null order by x.kind for update skip locked
    loop
        last := least(s.awaits, jobs.last_seq());
        if jobs.oldest_floor(last) <= last then
            update jobs.subscription as u set awaits = last where u.kind = s.kind and u.awaits > last;
        else
            begin
                made := made + jobs.replay(s.kind, false);
                update jobs.subscription as u set awaits = null where u.kind = s.kind;
            exception
                when others then
                    raise warning 'subscription of kind % was set aside: % (%)', s.kind, sqlerrm, sqlstate;
            end;
        end if;
    end loop;
    return made;
end;
$$;

comment on function jobs.settle() is 'Finds the rows of producers that did not know a new subscription; returns how many jobs were made. Internal.';

-- Promises: ends the job of a live claim: deleted, or kept as done if the kind keeps history; a job that was re-triggered while it ran goes back to
-- pending with no attempts; so does a replay job while committed rows of its key are unread (jobs.unread says for how long). Raises 22023, 25006, JB001. Locks: the row, then its stored triggers.
create or replace function jobs.complete(id bigint, token uuid, result jsonb default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    j jobs.job := jobs.hold('complete', complete.id, complete.token);
    wait interval;
begin
    if j.key is not null
        and exists (select from jobs.trigger as t where t.kind = j.kind and t.key = j.key)
        and jobs.requeue(j, null, 0, null, 'needed') is not null
    then
        return 'pending';
    end if;
    if j.key is not null and exists (select from jobs.subscription as s where s.kind = j.kind) then
        wait := jobs.unread(j.kind, j.key);
        if wait is not null then
            perform jobs.requeue(j, jobs.clock() + wait, 0, null, 'met');
            return 'pending';
        end if;
    end if;
    if (select k.keep_done > interval '0 s' from jobs.kind as k where k.kind = j.kind) then
        update jobs.job as u
        set state = 'done', finished_at = jobs.clock(), result = complete.result, claimed_by = null, claimed_until = null
        where u.id = complete.id;
        return 'done';
    end if;
    delete from jobs.job as d where d.id = complete.id;
    return 'deleted';
end;
$$;

comment on function jobs.complete(bigint, uuid, jsonb) is
'Ends the job of the claim (id, token). result: kept if the kind keeps history. Returns what became of the job: deleted, done, or pending (it was triggered
while it ran, or replays a stream whose rows it has not all handled, and runs once more). Raises JB001 if the claim is lost (expired, taken, cancelled, finished), 22023, 25006.';

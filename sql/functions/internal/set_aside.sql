-- Promises: jobs that are pending and at or past their limit of attempts, however they came to be so, are failed, with a reason. Takes rows that
-- this transaction has locked. Returns how many. Locks as end_attempt does.
create or replace function jobs.set_aside(ids bigint[])
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
    j record;
    aside bigint := 0;
begin
    for j in
        select s.id, s.kind, s.key, s.attempts, s.last_error, coalesce(s.max_attempts, (jobs.policy(s.kind)).max_attempts) as allowed
        from jobs.job as s
        where s.id = any (set_aside.ids) and s.state || '' = 'pending'
    loop
        continue when j.allowed = 0 or j.attempts < j.allowed;
        update jobs.job as u
        set
            state = 'failed', finished_at = jobs.clock(),
            last_error = left(
                format('out of attempts: %s of %s%s', j.attempts, j.allowed, coalesce('; last error: ' || j.last_error, '')), 8000
            )
        where u.id = j.id;
        if j.key is not null then
            perform jobs.fold_key(j.kind, j.key);
        end if;
        aside := aside + 1;
    end loop;
    return aside;
end;
$$;

comment on function jobs.set_aside(bigint[]) is 'Fails those of the locked pending jobs that are out of attempts; returns how many. Internal.';

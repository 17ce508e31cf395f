-- The policy of a kind: its row of jobs.kind, or the defaults of that table for a kind that nobody defined. Locks nothing.
create or replace function jobs.policy(kind text)
returns jobs.kind
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    found_policy jobs.kind;
begin
    select k.* into found_policy from jobs.kind as k where k.kind = policy.kind;
    if not found then
        found_policy := (policy.kind, '60 s', 20, '1 s', '1 hour', 0.1, null, '14 days', false);
    end if;
    return found_policy;
end;
$$;

comment on function jobs.policy(text) is 'Policy of a kind, the defaults if nobody defined it. Internal.';

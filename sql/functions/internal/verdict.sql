-- The one judgement of a claim; every verb uses it. Promises: null if the claim is live at the instant `at`, otherwise the reason why it
-- is lost, in words. Takes the columns of the job's row as they are (all null: no such job). Locks nothing.
create or replace function jobs.verdict(
    id bigint,
    token uuid,
    state text,
    claimed_by uuid,
    claimed_until timestamptz,
    at timestamptz
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if verdict.state = 'running' and verdict.claimed_by = verdict.token then
        if verdict.claimed_until > verdict.at then
            return null;
        end if;
        return format('its lease expired at %s', verdict.claimed_until);
    end if;
    if verdict.state is null then
        return 'no such job (finished and deleted, or it never existed)';
    end if;
    if verdict.state = 'pending' and verdict.id = any (jobs.tx_held()) and jobs.tx_token(verdict.id) = verdict.token then
        return null;
    end if;
    if verdict.state = 'running' then
        return 'the job was taken by another claim';
    end if;
    if verdict.state = 'cancelled' then
        return 'the job was cancelled';
    end if;
    return format('the claim ended (completed, failed, released, or its lease expired) and the job is %s', verdict.state);
end;
$$;

comment on function jobs.verdict(bigint, uuid, text, uuid, timestamptz, timestamptz) is
'Null if the claim (id, token) is live at the instant `at`, else why it is lost. Internal.';

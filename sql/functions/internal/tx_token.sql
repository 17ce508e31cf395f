-- The token of a transaction lease, derived from the secret, the transaction and the job: no other transaction can know it, and nothing has
-- to be written to prove it. Reads jobs.secret. Locks nothing.
create or replace function jobs.tx_token(id bigint)
returns uuid
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select encode(
        substr(sha256(s.secret || convert_to(pg_current_xact_id()::text || ' ' || tx_token.id::text, 'SQL_ASCII')), 1, 16), 'hex'
    )::uuid
    from jobs.secret as s
    limit 1;
$$;

comment on function jobs.tx_token(bigint) is 'Token of this transaction''s lease on the job `id`. Internal.';

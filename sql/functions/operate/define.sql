-- Promises: sets the policy of a kind; null leaves a field as it is. Raises 22023, 25006. Locks: the row of the kind.
create or replace function jobs.define(
    kind text,
    max_attempts int default null,
    lease interval default null,
    backoff_base interval default null,
    backoff_max interval default null,
    jitter double precision default null,
    keep_done interval default null,
    keep_failed interval default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    d jobs.kind := jobs.policy(define.kind);
begin
    perform jobs.guard('define', false);
    perform jobs.check_enqueue(define.kind, 0, define.max_attempts, 'keep');
    if define.lease <= interval '0 s' or define.lease > interval '7 days' then
        raise exception 'lease must be longer than 0 and at most 7 days, not %', define.lease using errcode = '22023';
    end if;
    if define.backoff_base <= interval '0 s' or define.backoff_max <= interval '0 s'
        or define.backoff_base > interval '100 years' or define.backoff_max > interval '100 years'
    then
        raise exception 'backoff_base and backoff_max must be longer than 0 and at most 100 years, not % and %',
            define.backoff_base, define.backoff_max
            using errcode = '22023';
    end if;
    if define.jitter not between 0 and 1 then
        raise exception 'jitter must be between 0 and 1, not %', define.jitter using errcode = '22023';
    end if;
    if define.keep_done < interval '0 s' or define.keep_failed < interval '0 s'
        or define.keep_done > interval '100 years' or define.keep_failed > interval '100 years'
    then
        raise exception 'keep_done and keep_failed must be between 0 and 100 years, not % and %', define.keep_done, define.keep_failed
            using errcode = '22023';
    end if;
    insert into jobs.kind as k (kind, max_attempts, lease, backoff_base, backoff_max, jitter, keep_done, keep_failed)
    values (
        define.kind, coalesce(define.max_attempts, d.max_attempts), coalesce(define.lease, d.lease),
        coalesce(define.backoff_base, d.backoff_base), coalesce(define.backoff_max, d.backoff_max),
        coalesce(define.jitter, d.jitter), coalesce(define.keep_done, d.keep_done), coalesce(define.keep_failed, d.keep_failed)
    )
    on conflict on constraint kind_pkey do update
    set
        max_attempts = coalesce(define.max_attempts, k.max_attempts), lease = coalesce(define.lease, k.lease),
        backoff_base = coalesce(define.backoff_base, k.backoff_base), backoff_max = coalesce(define.backoff_max, k.backoff_max),
        jitter = coalesce(define.jitter, k.jitter), keep_done = coalesce(define.keep_done, k.keep_done),
        keep_failed = coalesce(define.keep_failed, k.keep_failed);
end;
$$;

comment on function jobs.define(text, int, interval, interval, interval, double precision, interval, interval) is
'Sets the policy of a kind; null leaves a field as it is. max_attempts: 0 = without limit (default 20). lease: up to 7 days (60 s). backoff_base, backoff_max: wait
after the first failed attempt and the longest one (1 s, 1 hour). jitter: 0 to 1 (0.1). keep_done: how long completed jobs are kept, 0 = deleted at once (default).
keep_failed: how long failed and cancelled ones are (14 days). Raises 22023, 25006.';

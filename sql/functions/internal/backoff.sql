-- Promises: the wait before attempt number `attempts` + 1: least(cap, base * 2^(attempts - 1)), longer or shorter by up to the share
-- `jitter`, always between base and cap (a base above the cap counts as the cap). Raises nothing at any attempt number. Locks nothing.
-- Formula: exponential backoff as in CONTRACT "Backoff"; the exponent is bounded at 62, where any base has long met any cap.
create or replace function jobs.backoff(
    attempts int,
    base interval,
    cap interval,
    jitter double precision
)
returns interval
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    most constant double precision := extract(epoch from backoff.cap);
    least_wait constant double precision := least(extract(epoch from backoff.base), most);
    wait double precision := least(most, least_wait * power(2::double precision, least(greatest(backoff.attempts, 1) - 1, 62)));
begin
    wait := wait * (1 + backoff.jitter * (2 * random() - 1));
    return make_interval(secs => greatest(least_wait, least(most, wait)));
end;
$$;

comment on function jobs.backoff(int, interval, interval, double precision) is
'Wait before the next attempt after `attempts` failed ones: least(cap, base * 2^(attempts-1)) with jitter, within [base, cap]. Internal.';

begin;
select plan(25);

select is(jobs.backoff(v.attempts, '1 s', '1 hour', 0), make_interval(secs => v.secs), format('%s attempts', v.attempts))
from (values (1, 1), (2, 2), (3, 4), (10, 512), (12, 2048), (13, 3600), (20, 3600), (64, 3600), (65, 3600), (2000000000, 3600), (2147483647, 3600)) as v (attempts, secs);
select is(jobs.backoff(v.attempts, '1 s', '1 hour', 0), interval '1 s', format('%s attempts: the base', v.attempts)) from (values (0), (-1), (-2147483648)) as v (attempts);
select is(
    (select count(*) from generate_series(1, 500) as n where jobs.backoff(v.attempts, '1 s', '1 hour', v.jitter) not between interval '1 s' and interval '1 hour'),
    0::bigint, format('%s attempts, jitter %s: never outside', v.attempts, v.jitter)
)
from (values (0, 0.1), (1, 1), (20, 0.1), (64, 1), (2000000000, 0.5)) as v (attempts, jitter);
select cmp_ok(count(distinct jobs.backoff(5, '1 s', '1 hour', 0.1)), '>', 1::bigint, 'jitter spreads the waits') from generate_series(1, 500);
select is(
    (select count(*) from generate_series(1, 500) as n where jobs.backoff(5, '1 s', '1 hour', 0.1) not between interval '14.4 s' and interval '17.6 s'),
    0::bigint, 'by no more than its share'
);
select is(jobs.backoff(1, '1 hour', '1 s', 0), interval '1 s', 'a base above the cap counts as the cap');
select is(jobs.backoff(1, '1 microsecond', '1 hour', 0), interval '1 microsecond', 'the smallest base');
select is(jobs.backoff(64, '1 microsecond', '1 hour', 0), interval '1 hour', 'meets the cap too');
select is(jobs.backoff(2000000000, '100 years', '200 years', 0) > interval '100 years', true, 'very long waits overflow nothing');

select * from finish();
rollback;

begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.define('k') $$, 'nothing but a name: the defaults');
select is(
    (k.max_attempts, k.lease, k.backoff_base, k.backoff_max, k.jitter, k.keep_done, k.keep_failed, k.paused)::text,
    '(20,00:01:00,00:00:01,01:00:00,0.1,,"14 days",f)', 'as the contract has them'
)
from jobs.kind as k where k.kind = 'k';
select lives_ok($$ select jobs.define('k', 5, '30 s', '2 s', '10 minutes', 0.5, '1 day', '2 days') $$, 'every field, by position');
select is(
    (k.max_attempts, k.lease, k.backoff_base, k.backoff_max, k.jitter, k.keep_done, k.keep_failed)::text,
    '(5,00:00:30,00:00:02,00:10:00,0.5,"1 day","2 days")', 'is set'
)
from jobs.kind as k where k.kind = 'k';
select lives_ok($$ select jobs.pause('k') $$, 'paused');
select lives_ok($$ select jobs.define('k', jitter => 0) $$, 'one field');
select is(
    (k.max_attempts, k.lease, k.backoff_base, k.backoff_max, k.jitter, k.keep_done, k.keep_failed, k.paused)::text,
    '(5,00:00:30,00:00:02,00:10:00,0,"1 day","2 days",t)', 'the others stay, and so does the pause'
)
from jobs.kind as k where k.kind = 'k';
select lives_ok(
    $$ select jobs.define(
        kind => 'l', max_attempts => 0, lease => '7 days', backoff_base => '1 s', backoff_max => '1 s', jitter => 1, keep_done => '0', keep_failed => '0'
    ) $$, 'the limits themselves, by name'
);

select * from finish();
rollback;

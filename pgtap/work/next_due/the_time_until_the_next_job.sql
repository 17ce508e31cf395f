begin;
select plan(13);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.next_due(), null, 'no job: null');
select is(count(*), 3::bigint, 'three kinds')
from (values ('a', '10 s'), ('b', '5 s'), ('c', '1 s')) as v (kind, delay) cross join lateral jobs.enqueue(v.kind, delay => v.delay::interval) as e;
select lives_ok($$ select jobs.pause('c') $$, 'one is paused');
select is(jobs.next_due(), interval '5 s', 'over all kinds that are not paused');
select is(jobs.next_due('{a}'), interval '10 s', 'of the kinds given');
select is(jobs.next_due('{a,b,x}'), interval '5 s', 'the nearest of them');
select is(jobs.next_due('{c}'), null, 'a paused kind has none');
select is(jobs.next_due('{x}'), null, 'nor has an unknown one');
select is(jobs.next_due('{}'), null, 'nor has no kind at all');
set local test.clock = '2030-01-01 12:00:07+00';
select is(jobs.next_due(), interval '0', 'a job that is due: 0, never less');
select is(count(*), 1::bigint, 'it is claimed') from jobs.claim('{b}') as c;
select is(jobs.next_due('{b}'), null, 'a running job is not pending');
select is(jobs.next_due(), interval '3 s', 'the next one');

select * from finish();
rollback;

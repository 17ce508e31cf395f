begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
select is(count(*), 1::bigint, 'a claim') from jobs.claim() as c;
select is(count(*), 1::bigint, 'ticks once') from jobs.tick as t;
select is_empty('select from jobs.claim()', 'another one in the same instant');
select is(count(*), 1::bigint, 'does not') from jobs.tick as t;
set local test.clock = '2030-01-01 12:00:01+00';
select is_empty('select from jobs.claim()', 'one a second later');
select is(count(*), 2::bigint, 'does') from jobs.tick as t;
set local test.clock = '2030-01-01 11:00:00+00';
select is_empty('select from jobs.claim()', 'a clock that has stepped back');
select is(count(*), 3::bigint, 'stops nothing') from jobs.tick as t;

select * from finish();
rollback;

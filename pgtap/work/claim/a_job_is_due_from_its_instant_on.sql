begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'due in ten seconds') from jobs.enqueue('k', delay => '10 s') as e;
set local test.clock = '2030-01-01 12:00:09.999999+00';
select is_empty('select from jobs.claim()', 'a microsecond before it is not claimed');
select is_empty('select from jobs.claim_tx()', 'nor by claim_tx');
set local test.clock = '2030-01-01 12:00:10+00';
select is(count(*), 1::bigint, 'at the instant it is') from jobs.claim() as c;

select * from finish();
rollback;

begin;
select plan(3);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim_tx() as c;
select lives_ok(format('select jobs.release(%s, %L)', h.id, h.claimed_by), 'released') from held as h;
select is_empty('select from jobs.claim_tx()', 'this transaction has finished with it');

select * from finish();
rollback;

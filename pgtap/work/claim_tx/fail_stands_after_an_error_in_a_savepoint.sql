begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
create temp table held as select c.* from jobs.claim_tx() as c;
create temp table written (n int);
savepoint handler;
insert into written values (1);
rollback to savepoint handler;
select is((jobs.fail(h.id, h.claimed_by, 'division by zero')).state, 'pending', 'the handler''s work is undone, the failure is recorded') from held as h;
select is((j.attempts, j.last_error)::text, '(1,"division by zero")', 'in the job') from jobs.job as j;
select is_empty('select from written', 'and nothing of the work is left');

select * from finish();
rollback;

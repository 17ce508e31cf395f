begin isolation level repeatable read;
select plan(5);

select isnt(e.id, null, 'a job') from jobs.enqueue('k') as e;
update jobs.job set state = 'running', claimed_by = '00000000-0000-4000-8000-000000000001', claimed_until = jobs.clock() + interval '1 minute', claimed_at = jobs.clock();
select lives_ok(format('select jobs.fence(%s, %L)', j.id, j.claimed_by), 'the fence') from jobs.job as j;
select throws_ok(format('select jobs.fence(%s, %L)', j.id, gen_random_uuid()), 'JB001', null, 'refused for another token') from jobs.job as j;
select is(jobs.holds(j.id, j.claimed_by), true, 'holds() says the same') from jobs.job as j;
select is(jobs.holds(j.id, gen_random_uuid()), false, 'as a boolean') from jobs.job as j;

select * from finish();
rollback;

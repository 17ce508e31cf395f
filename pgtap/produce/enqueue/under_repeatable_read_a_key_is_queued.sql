begin isolation level repeatable read;
select plan(4);

select is(e.outcome, 'queued', 'a key cannot be looked up in an old snapshot: its trigger is stored') from jobs.enqueue('k', 'a', '{"n": 1}') as e;
select is(e.outcome, 'inserted', 'a job without key needs no look') from jobs.enqueue('k') as e;
select is((t.kind, t.key, t.payload)::text, '(k,a,"{""n"": 1}")', 'the trigger holds all') from jobs.trigger as t;
select is(count(*), 1::bigint, 'one job') from jobs.job as j where j.kind = 'k';

select * from finish();
rollback;

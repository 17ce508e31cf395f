begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(e.id, null, 'a job') from jobs.enqueue('k', 'a') as e;
select isnt(e.id, null, 'another') from jobs.enqueue('k', 'b', priority => 1) as e;
update jobs.job set attempts = 20 where key = 'a';
select results_eq('select c.key from jobs.claim_tx() as c', array['b'], 'the one that can run is claimed');
select is((j.state, j.finished_at = jobs.clock())::text, '(failed,t)', 'the other is failed') from jobs.job as j where j.key = 'a';

select * from finish();
rollback;

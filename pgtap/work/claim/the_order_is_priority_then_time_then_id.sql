begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(count(*), 7::bigint, 'seven jobs of two kinds')
from (values
    ('k', 'late', 0, '2030-01-01 12:00:03+00'), ('k', 'early', 0, '2030-01-01 12:00:01+00'), ('l', 'between', 0, '2030-01-01 12:00:02+00'),
    ('l', 'urgent', -1, '2030-01-01 12:00:04+00'), ('k', 'idle', 9, '2030-01-01 12:00:00+00'),
    ('l', 'same instant', 0, '2030-01-01 12:00:01+00'), ('k', 'tomorrow', -9, '2030-01-02 12:00:00+00')
) as v (kind, key, priority, due)
cross join lateral jobs.enqueue(v.kind, v.key, run_after => v.due::timestamptz, priority => v.priority) as e;
set local test.clock = '2030-01-01 12:00:30+00';
select results_eq(
    $$ select c.key from jobs.claim(batch => 3) as c $$, array['urgent', 'early', 'same instant'], 'a batch comes in order, over all kinds'
);
select results_eq($$ select c.key from jobs.claim() as c $$, array['between'], 'one by one');
select results_eq($$ select c.key from jobs.claim(array['l', 'k']) as c $$, array['late'], 'the order of the kinds given says nothing');
select results_eq($$ select c.key from jobs.claim(batch => 10) as c $$, array['idle'], 'what is not due is not claimed');

select * from finish();
rollback;

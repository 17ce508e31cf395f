begin;
select plan(7);

insert into jobs.job (kind, key, state, run_after, created_at) values ('k', 'a', 'pending', now(), now());
select throws_ok($$ insert into jobs.job (kind, key, state, run_after, created_at) values ('k', 'a', 'running', now(), now()) $$, '23505', null, 'no running one beside a pending one');
select throws_ok($$ insert into jobs.job (kind, key, state, run_after, created_at) values ('k', 'a', 'pending', now(), now()) $$, '23505', null, 'no second pending one');
select lives_ok(format($$ insert into jobs.job (kind, key, state, run_after, created_at) values ('k', 'a', %L, now(), now()) $$, s.state), 'beside a ' || s.state || ' one')
from (values ('done'), ('failed'), ('cancelled')) as s (state);
select lives_ok($$ insert into jobs.job (kind, state, run_after, created_at) select 'k', 'pending', now(), now() from generate_series(1, 3) $$, 'any number without key');
select throws_ok($$ insert into jobs.job (kind, state, run_after, created_at) values ('k', 'lost', now(), now()) $$, '23514', null, 'no other state');

select * from finish();
rollback;

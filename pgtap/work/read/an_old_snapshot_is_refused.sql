begin isolation level repeatable read;
select plan(2);

select throws_ok('select jobs.read(1, gen_random_uuid())', '25000', null, 'it would miss rows that were committed since');
select throws_ok($$ select jobs.subscribe('s', 'k') $$, '25000', null, 'so would subscribe');

select * from finish();
rollback;

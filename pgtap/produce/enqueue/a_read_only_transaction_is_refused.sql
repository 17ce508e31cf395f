begin;
select plan(2);

set transaction read only;
select throws_ok($$ select jobs.enqueue('k') $$, '25006', null, 'enqueue');
select throws_ok($$ select jobs.enqueue_many('k', '{a}') $$, '25006', null, 'enqueue_many');

select * from finish();
rollback;

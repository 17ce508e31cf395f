begin;
select plan(1);

select is(jobs.version(), '0.1.0', 'version 0.1.0');

select * from finish();
rollback;

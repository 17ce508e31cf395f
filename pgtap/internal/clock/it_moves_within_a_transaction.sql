begin;
select plan(2);

create temp table read as select jobs.clock() as at;
select cmp_ok(jobs.clock(), '>', r.at, 'later at the second look') from read as r;
select cmp_ok(r.at, '>', now(), 'it is not the start of the transaction') from read as r;

select * from finish();
rollback;

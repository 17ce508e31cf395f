begin;
select plan(6);

create temp view code as
select f.oid::regprocedure as name, f.proname, regexp_replace(f.prosrc, '--[^\n]*', '', 'g') as body
from pg_proc as f where f.pronamespace = 'jobs'::regnamespace;
select is_empty(
    $$ select c.name from code as c where c.proname <> 'clock' and c.body ~* '\m(now\(|clock_timestamp|statement_timestamp|transaction_timestamp|current_timestamp|localtimestamp)' $$,
    'one clock'
);
select is_empty($$ select c.name from code as c where c.body ~* '\mexecute\M' $$, 'no dynamic SQL');
select is_empty($$ select c.name from code as c where c.body ~* '\m(pg_sleep|notify|pg_notify)\M' $$, 'nobody sleeps, nobody notifies');
select is_empty($$ select c.name from code as c where c.body ~* '\mpg_advisory_' $$, 'an advisory lock is tried, never waited for');
select is_empty($$ select c.name from code as c where c.body ~* '\mon conflict\M' and c.proname not in ('advance', 'define', 'pause', 'resume', 'subscribe') $$, 'no INSERT … ON CONFLICT, which can wait');
select is_empty($$ select c.name from code as c where c.body ~* '\mfor\s+(key\s+)?share\M' and c.proname <> 'fence_verdict' $$, 'no shared row locks but the fence''s');

select * from finish();
rollback;

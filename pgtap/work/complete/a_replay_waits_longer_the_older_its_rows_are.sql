begin;
select plan(12);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'a subscriber');
select isnt(jobs.publish('s', 'a', '1'), null, 'a row');
-- after so many seconds since the row was published: how long until the job looks again
create temp table step as
select row_number() over (order by v.after) as n, v.after, v.wait
from (values (interval '0 s', interval '250 ms'), ('1 s', '250 ms'), ('4 s', '1 s'), ('40 s', '10 s'), ('1 day', '10 s')) as v (after, wait);
create function pg_temp.wait_after(after interval) returns interval language plpgsql as $$
declare
    c jobs.job;
begin
    perform set_config('test.clock', (timestamptz '2030-01-01 12:00:00+00' + after)::text, true);
    c := (select x from jobs.claim_key('k', 'a') as x);
    if jobs.complete(c.id, c.claimed_by) <> 'pending' then
        return null;
    end if;
    return (select j.run_after - jobs.clock() from jobs.job as j);
end;
$$;
select is(pg_temp.wait_after(s.after), s.wait, 'after ' || s.after) from step as s order by s.n;
set local test.clock = '2030-01-03 12:00:00+00';
create temp table held as select c.* from jobs.claim_key('k', 'a') as c;
select results_eq('select h.attempts from held as h', array[0], 'none of this counted as an attempt');
select results_eq(
    $$ select c.completed from held as h cross join lateral jobs.complete_many(array[h.id], array[h.claimed_by]) as c $$, array[true], 'complete_many'
);
select results_eq(
    $$ select j.state, j.run_after - jobs.clock() from jobs.job as j $$, $$ values ('pending', interval '10 s') $$, 'keeps it just so'
);
set local test.clock = '2030-01-03 12:00:10+00';
update held as h set claimed_by = c.claimed_by from jobs.claim_key('k', 'a') as c where h.id = c.id;
select is((jobs.fail(h.id, h.claimed_by, 'x', final => true)).state, 'failed', 'a replay can fail for good') from held as h;
select is_empty($$ select from jobs.job as j where j.state <> 'failed' $$, 'and is left alone then');

select * from finish();
rollback;

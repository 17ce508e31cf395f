begin;
select plan(9);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{a,b}'), 2::bigint, 'two jobs');
create temp table held as select c.* from jobs.claim_key('k', 'b') as c;
select is(jobs.cancel_key('k', 'a'), 'cancelled', 'a pending one');
select is(jobs.cancel_key('k', 'b'), 'cancelled', 'a running one');
select throws_ok(format('select jobs.complete(%s, %L)', h.id, h.claimed_by), 'JB001', null, 'whose holder is refused') from held as h;
select is(jobs.cancel_key('k', 'c'), 'missing', 'an unknown key');
select is(jobs.cancel_key('l', 'a'), 'missing', 'an unknown kind');
select is(count(*), 2::bigint, 'both are kept') from jobs.job as j where j.state = 'cancelled';
select throws_ok($$ select jobs.cancel_key(null, 'a') $$, '22023', null, 'no kind');
select throws_ok($$ select jobs.cancel_key('k', null) $$, '22023', null, 'no key');

select * from finish();
rollback;

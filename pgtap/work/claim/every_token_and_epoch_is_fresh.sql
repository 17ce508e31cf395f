begin;
select plan(15);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array(select n::text from generate_series(1, 10) as n)), 10::bigint, 'ten jobs');
create temp table held as select c.* from jobs.claim(batch => 10) as c;
select is(count(distinct h.claimed_by), 10::bigint, 'ten tokens') from held as h;
select is(count(distinct h.epoch), 10::bigint, 'ten epochs') from held as h;
select lives_ok(format('select jobs.release(%s, %L)', h.id, h.claimed_by), 'given back') from held as h;
set local test.clock = '2030-01-01 12:00:01+00';
create temp table again as select c.* from jobs.claim(batch => 10) as c;
select is(count(*), 10::bigint, 'each second claim has another token') from again as a join held as h on h.id = a.id and h.claimed_by <> a.claimed_by;
select is(count(*), 10::bigint, 'and a larger epoch') from again as a join held as h on h.id = a.id and h.epoch < a.epoch;

select * from finish();
rollback;

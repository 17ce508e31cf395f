begin;
select plan(6);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'a subscriber');
select is_empty('select from jobs.lag', 'nothing is published');
create temp table row_of as select p.seq, p.n from jobs.publish_many('s', '{a,a,b}', '{1,2,3}') with ordinality as p (seq, n);
set local test.clock = '2030-01-01 12:00:05+00';
insert into row_of select jobs.publish('s', 'b', '4'), 4;
select is(jobs.advance(c.id, c.claimed_by, r.seq), true, 'one row of the first key is handled')
from jobs.claim_key('k', 'a') as c cross join row_of as r where r.n = 1;
set local test.clock = '2030-01-01 12:00:10+00';
select set_eq(
    $$ select l.kind, l.key, l.stream, r.n, l.unread, l.oldest_age from jobs.lag as l left join row_of as r on r.seq = l.watermark $$,
    $$ values ('k', 'a', 's', 1::bigint, 1::bigint, interval '10 s'), ('k', 'b', 's', null, 2, '10 s') $$,
    'where each key stands, how much it has not handled, and for how long'
);
select is(jobs.advance(j.id, j.claimed_by, r.seq), false, 'the other') from jobs.job as j cross join row_of as r where j.key = 'a' and r.n = 2;
select results_eq('select l.key from jobs.lag as l', array['b'], 'a key that has handled all is not listed');

select * from finish();
rollback;

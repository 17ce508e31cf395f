begin;
select plan(21);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

-- one job in each state in which the token of its first claim is worth nothing any more
select lives_ok($$ select jobs.define('done', keep_done => '1 day') $$, 'a kind that keeps history');
create temp table lost as
select v.kind, c.id, c.claimed_by as token
from (values ('released'), ('failing'), ('taken'), ('done'), ('failed'), ('cancelled'), ('deleted'), ('reaped'), ('expired')) as v (kind)
cross join lateral jobs.enqueue(v.kind, 'key', '{"n": 1}') as e
cross join lateral jobs.claim(array[v.kind], lease => case when v.kind in ('taken', 'expired', 'reaped') then interval '10 s' end) as c;
select lives_ok(format('select jobs.release(%s, %L)', l.id, l.token), 'released') from lost as l where l.kind = 'released';
select is((jobs.fail(l.id, l.token, 'x')).state, 'pending', 'failed once') from lost as l where l.kind = 'failing';
select is(jobs.complete(l.id, l.token), v.outcome, l.kind)
from lost as l join (values ('done', 'done'), ('deleted', 'deleted')) as v (kind, outcome) on v.kind = l.kind;
select is((jobs.fail(l.id, l.token, 'x', final => true)).state, 'failed', 'failed') from lost as l where l.kind = 'failed';
select is(jobs.cancel(l.id), 'cancelled', 'cancelled') from lost as l where l.kind = 'cancelled';
set local test.clock = '2030-01-01 12:00:10+00';
select is(count(*), 1::bigint, 'taken') from jobs.claim_key('taken', 'key') as c;
select is(count(*), 1::bigint, 'reaped and waiting') from jobs.claim_key('reaped', 'key') as c cross join lateral jobs.fail(c.id, c.claimed_by, 'x') as f;
insert into lost values ('never', 9000000000, gen_random_uuid());
create temp table was as select j.* from jobs.job as j;
select results_eq(
    $$ select l.kind, w.state from lost as l left join was as w on w.id = l.id order by l.kind $$,
    $$ values ('cancelled', 'cancelled'), ('deleted', null), ('done', 'done'), ('expired', 'running'), ('failed', 'failed'), ('failing', 'pending'),
    ('never', null), ('reaped', 'pending'), ('released', 'pending'), ('taken', 'running') $$,
    'every state is there'
);
select throws_ok(format('select jobs.read(%s, %L)', l.id, l.token), 'JB001', null, 'it is refused: ' || l.kind) from lost as l;
select set_eq('select * from jobs.job', 'select * from was', 'a refused call changes nothing');

select * from finish();
rollback;

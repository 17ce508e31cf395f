begin;
select plan(15);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select isnt(jobs.publish('s', k.key, '1'), null, k.key) from (values ('a'), ('b')) as k (key);
select lives_ok($$ select jobs.subscribe('s', 'k') $$, 'subscribed');
select results_eq(
    $$ select j.kind, j.key, j.state from jobs.job as j order by j.key $$, $$ values ('k', 'a', 'pending'), ('k', 'b', 'pending') $$, 'every key that is there'
);
create temp table was as select s.* from jobs.subscription as s;
select lives_ok(format($$ select jobs.subscribe('s', 'k', from_start => %L) $$, f.start), 'again') from (values (true), (false)) as f (start);
select set_eq('select * from jobs.subscription', 'select * from was', 'nothing has changed');
select throws_ok($$ select jobs.subscribe('t', 'k') $$, '22023', 'kind k replays the stream s already and cannot replay t too', 'another stream is refused');
select lives_ok($$ select jobs.subscribe('s', 'k2', from_start => false) $$, 'another kind, from now');
select results_eq(
    $$ select j.key from jobs.job as j where j.kind = 'k2' order by j.key $$, array['a', 'b'], 'has jobs for the rows of a transaction that is open: this one'
);
select throws_ok(c.call, '22023', null, c.call)
from (values
    ('select jobs.subscribe(null, ''x'')'), ('select jobs.subscribe('''', ''x'')'), ('select jobs.subscribe(''s'', null)'),
    ('select jobs.subscribe(''s'', repeat(''x'', 129))'), ('select jobs.subscribe(''s'', ''x'', null)')
) as c (call);

select * from finish();
rollback;

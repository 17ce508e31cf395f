begin;
select plan(11);

select throws_ok(c.call, '22023', null, c.call)
from (values
    ('select jobs.publish(null, ''a'', ''1'')'), ('select jobs.publish('''', ''a'', ''1'')'), ('select jobs.publish(repeat(''x'', 129), ''a'', ''1'')'),
    ('select jobs.publish(''s'', null, ''1'')'), ('select jobs.publish(''s'', repeat(''x'', 2049), ''1'')')
) as c (call);
select throws_like($$ select jobs.publish(null, 'a', '1') $$, 'stream must be 1 to 128 bytes%', 'the message names the argument and what is allowed');
select throws_like($$ select jobs.publish('s', null, '1') $$, 'key must be at most 2048 bytes long and not null%', 'so it does for the key');
select is_empty('select from jobs.outbox', 'nothing was published');
select isnt(jobs.publish(repeat('x', 128), repeat('y', 2048), '1'), null, 'the limits themselves are allowed');
select isnt(jobs.publish('s', '', '1'), null, 'an empty key is a key');
set transaction read only;
select throws_ok($$ select jobs.publish('s', 'a', '1') $$, '25006', null, 'a read-only transaction is refused');

select * from finish();
rollback;

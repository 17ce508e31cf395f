begin;
select plan(9);

select throws_ok(c.call, '22023', null, c.call)
from (values
    ('select jobs.publish_many(null, ''{a}'', ''{1}'')'), ('select jobs.publish_many(''s'', null, ''{1}'')'),
    ('select jobs.publish_many(''s'', ''{a}'', null)'), ('select jobs.publish_many(''s'', ''{a,b}'', ''{1}'')'),
    ('select jobs.publish_many(''s'', ''{a,null}'', ''{1,2}'')'), ('select jobs.publish_many(''s'', ''{{a,b}}'', ''{1,2}'')'),
    ('select jobs.publish_many(''s'', array[repeat(''x'', 2049)], ''{1}'')')
) as c (call);
select throws_like($$ select jobs.publish_many('s', '{a,b}', '{1}') $$, 'keys and payloads must be arrays of one dimension and one length, not 2 and 1', 'the message says how');
select is_empty('select from jobs.outbox', 'nothing was published');

select * from finish();
rollback;

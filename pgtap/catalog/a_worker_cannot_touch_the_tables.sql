begin;
select plan(46);

grant usage on schema public to public;
select lives_ok($$ select jobs.define('k', keep_done => '1 day') $$, 'a kind');
create function pg_temp.as_role(role text, sql text) returns text language plpgsql as $$
begin
    execute format('set local role %I', role);
    begin
        execute sql;
    exception
        when others then
            execute 'reset role';
            return sqlstate;
    end;
    execute 'reset role';
    return 'passed';
end;
$$;
select is(pg_temp.as_role('jobs_producer', c.call), 'passed', 'a producer: ' || c.call)
from (values ('select jobs.enqueue(''k'', ''a'')'), ('select jobs.enqueue_many(''k'', ''{b,c}'')'), ('select jobs.version()'),
    ('select jobs.publish(''s'', ''a'', ''1'')'), ('select jobs.publish_many(''s'', ''{b,c}'', ''{1,2}'')')) as c (call);
select is(pg_temp.as_role('jobs_producer', c.call), '42501', 'a producer may not: ' || c.call)
from (values ('select jobs.claim()'), ('select jobs.cancel(1)'), ('select * from jobs.overview'), ('select * from jobs.job'), ('delete from jobs.trigger'),
    ('insert into jobs.outbox (stream, key, published_at) values (''s'', ''a'', now())'), ('select nextval(''jobs.outbox_seq'')'), ('select jobs.subscribe(''s'', ''k'')')) as c (call);
select is(pg_temp.as_role('jobs_worker', c.call), 'passed', 'a worker: ' || c.call)
from (values
    ('select jobs.enqueue(''k'', ''d'')'), ('select jobs.next_due()'),
    ('select jobs.complete(c.id, c.claimed_by) from jobs.claim() as c'), ('select jobs.fail(c.id, c.claimed_by, ''x'') from jobs.claim() as c'),
    ('select jobs.extend(c.id, c.claimed_by), jobs.fence(c.id, c.claimed_by), jobs.holds(c.id, c.claimed_by) from jobs.claim() as c'),
    ('select jobs.release(c.id, c.claimed_by) from jobs.claim_tx() as c')
) as c (call);
select is(pg_temp.as_role('jobs_worker', c.call), '42501', 'a worker may not: ' || c.call)
from (values
    ('select * from jobs.job'), ('update jobs.job set state = ''pending'''), ('delete from jobs.job'), ('select * from jobs.secret'), ('select jobs.pause(''k'')'),
    ('select jobs.maintain()'), ('select jobs.clock()'), ('select jobs.backoff(1, ''1 s'', ''1 s'', 0)'), ('create table jobs.mine ()'),
    ('create or replace function jobs.clock() returns timestamptz language sql return now()'), ('select nextval(''jobs.epoch'')'),
    ('select * from jobs.outbox'), ('update jobs.watermark set seq = 0'), ('select jobs.subscribe(''s'', ''k'')')
) as c (call);
select is(pg_temp.as_role('jobs_operator', c.call), 'passed', 'an operator: ' || c.call)
from (values
    ('select * from jobs.overview'), ('select * from jobs.running'), ('select * from jobs.failed'), ('select * from jobs.lag'), ('select jobs.subscribe(''s'', ''r'')'), ('select jobs.pause(''k'')'), ('select jobs.resume(''k'')'),
    ('select jobs.define(''k'')'), ('select jobs.maintain()'), ('select jobs.cancel_key(''k'', ''d'')'), ('select jobs.retry(1)'),
    ('select jobs.advance(c.id, c.claimed_by, r.seq) from jobs.claim(''{r}'') as c cross join lateral jobs.read(c.id, c.claimed_by) as r')
) as c (call);

select * from finish();
rollback;

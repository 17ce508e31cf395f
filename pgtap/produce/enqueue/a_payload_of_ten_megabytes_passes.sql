begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(e.outcome, 'inserted', 'it is enqueued')
from jobs.enqueue('k', 'a', jsonb_build_object('text', repeat('0123456789', 1048576))) as e;
create temp table held as select c.* from jobs.claim('{k}') as c;
select is(length(h.payload ->> 'text'), 10485760, 'and claimed whole') from held as h;
select is(e.outcome, 'retriggered', 'a trigger may be as large')
from jobs.enqueue('k', 'a', jsonb_build_object('text', repeat('9876543210', 1048576))) as e;
select is(jobs.complete(h.id, h.claimed_by, jsonb_build_object('text', repeat('x', 10485760))), 'pending', 'and a result') from held as h;
select is(md5(c.payload ->> 'text'), md5(repeat('9876543210', 1048576)), 'the next run gets the new payload')
from jobs.claim('{k}') as c;

select * from finish();
rollback;

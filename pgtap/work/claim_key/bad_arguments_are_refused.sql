begin;
select plan(5);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select throws_ok(format('select jobs.claim_key(%s)', b.call), '22023', null, b.call)
from (values
    ('null, ''a'''), ('''k'', null'), ('''k'', ''a'', lease => ''0'''), ('''k'', ''a'', lease => ''8 days'''),
    ('''k'', ''a'', worker => repeat(''w'', 257)')
) as b (call);

select * from finish();
rollback;

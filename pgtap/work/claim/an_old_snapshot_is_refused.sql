begin isolation level repeatable read;
select plan(8);

select throws_ok(c.call, '25000', null, c.call)
from (values
    ('select jobs.claim()'), ('select jobs.claim_tx()'), ('select jobs.claim_key(''k'', ''a'')'), ('select jobs.maintain()'),
    ('select jobs.retry(1)'), ('select jobs.cancel(1)'), ('select jobs.cancel_key(''k'', ''a'')')
) as c (call);
select throws_like('select jobs.claim()', '%READ COMMITTED%', 'the message says what to use');

select * from finish();
rollback;

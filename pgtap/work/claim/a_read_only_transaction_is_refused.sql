begin;
select plan(13);

set transaction read only;
select throws_ok(c.call, '25006', null, c.call)
from (values
    ('select jobs.claim()'), ('select jobs.claim_tx()'), ('select jobs.claim_key(''k'', ''a'')'), ('select jobs.maintain()'),
    ('select jobs.complete(1, gen_random_uuid())'), ('select jobs.complete_many(array[1], array[gen_random_uuid()])'),
    ('select jobs.fail(1, gen_random_uuid(), ''x'')'), ('select jobs.release(1, gen_random_uuid())'),
    ('select jobs.extend(1, gen_random_uuid())'), ('select jobs.extend_many(array[1], array[gen_random_uuid()])'),
    ('select jobs.fence(1, gen_random_uuid())'), ('select jobs.retry(1)'), ('select jobs.cancel(1)')
) as c (call);

select * from finish();
rollback;

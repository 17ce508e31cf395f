create or replace view jobs.running as
select
    j.id,
    j.kind,
    j.key,
    j.worker,
    j.attempts + 1::bigint as attempt,
    date_trunc('second', clock.at - j.claimed_at) as age,
    date_trunc('millisecond', j.claimed_until - clock.at) as lease_left
from jobs.job as j
cross join (select jobs.clock() as at offset 0) as clock
where j.state = 'running'
order by j.claimed_at, j.id;

comment on view jobs.running is 'Jobs under a timestamp lease, oldest claim first.';
comment on column jobs.running.id is 'The job.';
comment on column jobs.running.kind is 'Its kind.';
comment on column jobs.running.key is 'Its key.';
comment on column jobs.running.worker is 'Label of the worker that holds it.';
comment on column jobs.running.attempt is 'Number of this attempt, from 1.';
comment on column jobs.running.age is 'Time since it was claimed.';
comment on column jobs.running.lease_left is 'Time until its lease ends unless it is extended; negative: expired.';

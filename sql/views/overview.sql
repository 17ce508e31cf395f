create or replace view jobs.overview as
select
    coalesce(j.kind, t.kind, k.kind) as kind,
    coalesce(j.due, 0) as due,
    coalesce(j.scheduled, 0) as scheduled,
    coalesce(j.running, 0) as running,
    coalesce(j.expired, 0) as expired,
    coalesce(t.queued, 0) as queued,
    coalesce(j.done, 0) as done,
    coalesce(j.failed, 0) as failed,
    coalesce(j.cancelled, 0) as cancelled,
    date_trunc('second', j.at - j.oldest_due) as oldest_due_age,
    coalesce(k.paused, false) as paused
from (
    select
        job.kind,
        min(clock.at) as at,
        count(*) filter (where job.state = 'pending' and job.run_after <= clock.at) as due,
        count(*) filter (where job.state = 'pending' and job.run_after > clock.at) as scheduled,
        count(*) filter (where job.state = 'running' and job.claimed_until > clock.at) as running,
        count(*) filter (where job.state = 'running' and job.claimed_until <= clock.at) as expired,
        count(*) filter (where job.state = 'done') as done,
        count(*) filter (where job.state = 'failed') as failed,
        count(*) filter (where job.state = 'cancelled') as cancelled,
        min(job.run_after) filter (where job.state = 'pending' and job.run_after <= clock.at) as oldest_due
    from jobs.job
    cross join (select jobs.clock() as at offset 0) as clock
    group by job.kind
) as j
full join (
    select
        trigger.kind,
        count(*) as queued
    from jobs.trigger
    group by trigger.kind
) as t on j.kind = t.kind
full join jobs.kind as k on coalesce(j.kind, t.kind) = k.kind
order by 1;

comment on view jobs.overview is 'Per kind: how many jobs are in which state, how old the oldest due one is, whether the kind is paused.';
comment on column jobs.overview.kind is 'The kind.';
comment on column jobs.overview.due is 'Pending jobs that could be claimed now (if the kind is not paused).';
comment on column jobs.overview.scheduled is 'Pending jobs that wait for their time or their backoff.';
comment on column jobs.overview.running is 'Jobs under a live timestamp lease.';
comment on column jobs.overview.expired is 'Jobs whose lease has expired and whose attempt has not been ended yet.';
comment on column jobs.overview.queued is 'Stored triggers that wait for the end of a run or of a transaction.';
comment on column jobs.overview.done is 'Completed jobs that the kind keeps.';
comment on column jobs.overview.failed is 'Jobs out of attempts.';
comment on column jobs.overview.cancelled is 'Jobs that were cancelled.';
comment on column jobs.overview.oldest_due_age is 'How long the oldest due job has been due.';
comment on column jobs.overview.paused is 'Whether the kind is paused.';

create or replace view jobs.failed as
select
    j.id,
    j.kind,
    j.key,
    j.attempts,
    j.finished_at,
    j.last_error
from jobs.job as j
where j.state = 'failed'
order by j.finished_at desc, j.id desc;

comment on view jobs.failed is 'Jobs that are out of attempts, newest first: the dead letters. jobs.retry(id) runs one again.';
comment on column jobs.failed.id is 'The job.';
comment on column jobs.failed.kind is 'Its kind.';
comment on column jobs.failed.key is 'Its key.';
comment on column jobs.failed.attempts is 'Attempts made.';
comment on column jobs.failed.finished_at is 'When it failed for good.';
comment on column jobs.failed.last_error is 'Error of the last attempt.';

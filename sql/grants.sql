-- Runs last: nothing for public, then by role. Where the roles cannot be created it says so and goes on.

revoke all on schema jobs from public;
revoke all on all tables in schema jobs from public;
revoke all on all sequences in schema jobs from public;
revoke all on all functions in schema jobs from public;

do $$
declare
    role_name text;
begin
    foreach role_name in array array['jobs_producer', 'jobs_worker', 'jobs_operator'] loop
        if to_regrole(role_name) is null then
            begin
                execute format('create role %I nologin', role_name);
            exception
                when insufficient_privilege then
                    raise warning 'role % could not be created: grant what it needs by hand, or let an administrator create it and install again',
                        role_name;
                when duplicate_object or unique_violation then
                    null; -- made by another database's installation meanwhile
            end;
        end if;
    end loop;

    if to_regrole('jobs_producer') is not null then
        grant usage on schema jobs to jobs_producer;
        grant execute on function
            jobs.enqueue, jobs.enqueue_many, jobs.publish, jobs.publish_many, jobs.version
        to jobs_producer;
    end if;
    if to_regrole('jobs_worker') is not null then
        grant usage on schema jobs to jobs_worker;
        grant execute on function
            jobs.enqueue, jobs.enqueue_many, jobs.publish, jobs.publish_many, jobs.version, jobs.read, jobs.advance, jobs.claim, jobs.claim_key, jobs.claim_tx, jobs.complete,
            jobs.complete_many, jobs.fail, jobs.release, jobs.extend, jobs.extend_many, jobs.fence, jobs.holds, jobs.next_due
        to jobs_worker;
    end if;
    if to_regrole('jobs_operator') is not null then
        grant usage on schema jobs to jobs_operator;
        grant execute on function
            jobs.enqueue, jobs.enqueue_many, jobs.publish, jobs.publish_many, jobs.version, jobs.read, jobs.advance, jobs.claim, jobs.claim_key, jobs.claim_tx, jobs.complete,
            jobs.complete_many, jobs.fail, jobs.release, jobs.extend, jobs.extend_many, jobs.fence, jobs.holds, jobs.next_due,
            jobs.define, jobs.subscribe, jobs.pause, jobs.resume, jobs.cancel, jobs.cancel_key, jobs.retry, jobs.maintain, jobs.clock -- the views call the clock as their reader
        to jobs_operator;
        grant select on jobs.overview, jobs.running, jobs.failed, jobs.lag to jobs_operator;
    end if;
end;
$$;

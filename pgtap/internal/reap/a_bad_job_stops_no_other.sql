begin;
select plan(4);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', '{bad,good}'), 2::bigint, 'two jobs');
select is(count(*), 2::bigint, 'both run') from jobs.claim(batch => 2, lease => '10 s') as c;
create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
    if new.key = 'bad' and new.state <> 'running' then
        raise exception 'this row cannot be changed';
    end if;
    return new;
end;
$$;
create trigger refuse before update on jobs.job for each row execute function pg_temp.refuse();
set local test.clock = '2030-01-01 12:01:00+00';
set local client_min_messages = error;
select results_eq('select c.key from jobs.claim(batch => 10) as c', array['good'], 'the other one is reaped and claimed');
select is(j.state, 'running', 'the bad one is left') from jobs.job as j where j.key = 'bad';

select * from finish();
rollback;

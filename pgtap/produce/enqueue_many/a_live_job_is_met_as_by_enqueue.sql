begin;
select plan(8);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

select is(jobs.enqueue_many('k', array['pending', 'running', 'failed'], array['1', '1', '1']::jsonb[]), 3::bigint, 'three jobs');
create temp table held as
select c.* from (values ('running'), ('failed')) as v (key) cross join lateral jobs.claim_key('k', v.key) as c;
select is((jobs.fail(h.id, h.claimed_by, 'x', final => true)).state, 'failed', 'one fails for good') from held as h where h.key = 'failed';
create temp table was as select j.* from jobs.job as j where j.key = 'running';
select is(
    jobs.enqueue_many(
        'k', array['pending', 'running', 'failed', 'new'], array['2', '2', '2', '2']::jsonb[],
        array_fill('2030-01-01 13:00:00+00'::timestamptz, array[4])
    ),
    4::bigint, 'four keys'
);
select results_eq(
    $$ select j.key, j.state, j.payload from jobs.job as j order by j.key, j.id $$,
    $$ values ('failed', 'failed', '1'::jsonb), ('failed', 'pending', '2'), ('new', 'pending', '2'), ('pending', 'pending', '2'),
    ('running', 'running', '1') $$,
    'reset, stored beside the running one, or inserted'
);
select is(j.run_after, '2030-01-01 13:00:00+00'::timestamptz, 'reset to its new time') from jobs.job as j where j.key = 'pending';
select results_eq($$ select j.* from jobs.job as j where j.key = 'running' $$, 'select * from was', 'the running job is not touched');
select is((t.key, t.payload)::text, '(running,2)', 'its trigger is stored') from jobs.trigger as t;
select is(jobs.complete(h.id, h.claimed_by), 'pending', 'and it runs once more') from held as h where h.key = 'running';

select * from finish();
rollback;

-- The cursor: where in each lane (kind, priority) the pending jobs begin, and where the leases begin. Runs once.
-- Without it a claim walks the entries of all jobs that were taken since the oldest snapshot anybody holds.

create table jobs.cursor (
    kind text not null,
    priority smallint not null,
    tick bigint generated always as identity,
    run_after timestamptz not null,
    id bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create unique index cursor_newest on jobs.cursor (kind, priority, tick desc);

alter table jobs.tick
add column claims bigint,
add column leases_from timestamptz,
add column swept_at timestamptz;

comment on table jobs.cursor is 'Low-water marks: no pending job of the lane (kind, priority) lies before (run_after, id). Only the newest row of a lane counts.';
comment on column jobs.cursor.kind is 'Kind of the lane.';
comment on column jobs.cursor.priority is 'Priority of the lane.';
comment on column jobs.cursor.tick is 'Order of the marks; the highest counts.';
comment on column jobs.cursor.run_after is 'No pending job of the lane is due before this instant …';
comment on column jobs.cursor.id is '… nor, at this very instant, has a lower id.';
comment on column jobs.tick.claims is 'How many claims there had been (last value of jobs.epoch) when the marks were last moved.';
comment on column jobs.tick.leases_from is 'No lease that still counts ends before this instant; null = unknown.';
comment on column jobs.tick.swept_at is 'When the marks were last checked against all rows.';

insert into jobs.migration (version, name) values (3, 'cursor');

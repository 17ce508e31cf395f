-- The one clock. Promises: the real time now, moving inside a transaction too. Raises nothing, locks nothing.
-- Its body is parsed once, at creation, so it has no search_path to pin; without one the planner can inline it.
create or replace function jobs.clock()
returns timestamptz
language sql
volatile
return pg_catalog.clock_timestamp();

comment on function jobs.clock() is
'The time by which every lease, schedule and backoff is judged: clock_timestamp(), never the start of the transaction, never a client''s clock.';

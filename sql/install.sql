-- Installs or upgrades the schema jobs: psql -v ON_ERROR_STOP=1 -f sql/install.sql
-- One transaction under one advisory lock, so that any number of replicas may run it at once. Safe to run again.

begin;
set local client_min_messages = warning;
select pg_advisory_xact_lock(1785684595, 0) \gset
\ir migrations/bootstrap.sql
select not exists (select from jobs.migration where version = 1) as pending \gset
\if :pending
\ir migrations/0001_core.sql
\endif
select not exists (select from jobs.migration where version = 2) as pending \gset
\if :pending
\ir migrations/0002_outbox.sql
\endif
select not exists (select from jobs.migration where version = 3) as pending \gset
\if :pending
\ir migrations/0003_cursor.sql
\endif
\ir functions/internal/backoff.sql
\ir functions/internal/check_claim.sql
\ir functions/internal/check_enqueue.sql
\ir functions/internal/check_publish.sql
\ir functions/internal/clock.sql
\ir functions/internal/end_attempt.sql
\ir functions/internal/enter_outbox.sql
\ir functions/internal/fence_verdict.sql
\ir functions/internal/find.sql
\ir functions/internal/fold.sql
\ir functions/internal/fold_key.sql
\ir functions/internal/gate.sql
\ir functions/internal/gate_number.sql
\ir functions/internal/guard.sql
\ir functions/internal/hold.sql
\ir functions/internal/horizon.sql
\ir functions/internal/lanes.sql
\ir functions/internal/last_seq.sql
\ir functions/internal/lost.sql
\ir functions/internal/low_bound.sql
\ir functions/internal/meet_pending.sql
\ir functions/internal/move_cursor.sql
\ir functions/internal/oldest_floor.sql
\ir functions/internal/policy.sql
\ir functions/internal/prune.sql
\ir functions/internal/prune_key.sql
\ir functions/internal/prune_noted.sql
\ir functions/internal/reap.sql
\ir functions/internal/replay.sql
\ir functions/internal/requeue.sql
\ir functions/internal/set_aside.sql
\ir functions/internal/settle.sql
\ir functions/internal/take_triggers.sql
\ir functions/internal/tend.sql
\ir functions/internal/tend_tx.sql
\ir functions/internal/tx_held.sql
\ir functions/internal/tx_token.sql
\ir functions/internal/unread.sql
\ir functions/internal/verdict.sql
\ir functions/produce/enqueue.sql
\ir functions/produce/enqueue_many.sql
\ir functions/produce/publish.sql
\ir functions/produce/publish_many.sql
\ir functions/work/advance.sql
\ir functions/work/claim.sql
\ir functions/work/claim_key.sql
\ir functions/work/claim_tx.sql
\ir functions/work/complete.sql
\ir functions/work/complete_many.sql
\ir functions/work/extend.sql
\ir functions/work/extend_many.sql
\ir functions/work/fail.sql
\ir functions/work/fence.sql
\ir functions/work/holds.sql
\ir functions/work/next_due.sql
\ir functions/work/read.sql
\ir functions/work/release.sql
\ir functions/operate/cancel.sql
\ir functions/operate/cancel_key.sql
\ir functions/operate/define.sql
\ir functions/operate/maintain.sql
\ir functions/operate/pause.sql
\ir functions/operate/resume.sql
\ir functions/operate/retry.sql
\ir functions/operate/subscribe.sql
\ir functions/operate/version.sql
\ir views/failed.sql
\ir views/lag.sql
\ir views/overview.sql
\ir views/running.sql
\ir grants.sql
commit;

-- Removes the schema jobs and every job in it. The roles stay: other databases of the cluster may use them.

begin;
set local client_min_messages = warning;
select pg_advisory_xact_lock(1785684595, 0) \gset
drop schema if exists jobs cascade;
commit;

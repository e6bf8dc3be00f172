-- Turns the tables of a list into tables of Citus. Run it once, as the owner of the list, on the coordinator:
--   psql "$DATABASE_URL" -f deploy/citus.sql

BEGIN;
-- Waits until no change of the list is in progress.
LOCK TABLE rollcall.list, rollcall.inbox IN ACCESS EXCLUSIVE MODE;
SET LOCAL citus.multi_shard_modify_mode = 'sequential';

ALTER TABLE rollcall.inbox ADD CONSTRAINT durable CHECK (set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) <> '');
SELECT create_distributed_table('rollcall.inbox', 'shard', colocate_with => 'none', shard_count => 8);
SELECT create_distributed_table('rollcall.subscribers', 'identity', colocate_with => 'none', shard_count => 8);
SELECT create_distributed_table('rollcall.suppressions', 'hash', colocate_with => 'none', shard_count => 8);
SELECT create_reference_table('rollcall.suppression_keys');

CREATE TABLE rollcall.node_lock (id integer PRIMARY KEY, turn bigint NOT NULL);
SELECT create_reference_table('rollcall.node_lock');
INSERT INTO rollcall.node_lock VALUES (1, 0);
COMMIT;

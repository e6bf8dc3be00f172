-- Distributes the tables of a list with Citus. Run it once as the owner of the list, on the coordinator, after the first start:
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f deploy/citus.sql
-- docs/scale.md says what must be done before.

BEGIN;
-- Waits for changes in progress, and keeps others from beginning.
LOCK TABLE rollcall.list, rollcall.inbox IN ACCESS EXCLUSIVE MODE;
SET LOCAL citus.multi_shard_modify_mode = 'sequential';

-- Rollcall asks for this at the coordinator. The check runs on the node that has the row, in the transaction of the row.
ALTER TABLE rollcall.inbox ADD CONSTRAINT durable CHECK (set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) <> '');

-- The number of shards limits the number of nodes. alter_distributed_table() of Citus changes it later.
SELECT create_distributed_table('rollcall.inbox', 'shard', colocate_with => 'none', shard_count => 8);
SELECT create_distributed_table('rollcall.subscribers', 'identity', colocate_with => 'none', shard_count => 8);
SELECT create_distributed_table('rollcall.suppressions', 'hash', colocate_with => 'none', shard_count => 8);
SELECT create_reference_table('rollcall.suppression_keys');

-- Every node has this row. A change locks it on all of them (src/store/postgres/nodes.ts). Users other than the owner who
-- work with the list need ALL on it.
CREATE TABLE rollcall.node_lock (id integer PRIMARY KEY, turn bigint NOT NULL);
SELECT create_reference_table('rollcall.node_lock');
INSERT INTO rollcall.node_lock VALUES (1, 0);
COMMIT;

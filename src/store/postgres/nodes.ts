/**
 * The part of the lock that a list needs whose tables are distributed with Citus (deploy/citus.sql).
 *
 * Citus prepares a transaction on each node, commits it on the coordinator, and then commits it on each node. So the row of
 * `list`, which is on the coordinator, is free before the changes are visible on every node. When a node fails in
 * between, its part stays prepared until Citus commits it, up to a minute later.
 *
 * So a transaction with the lock first changes the row of `node_lock`, of which every node has a copy. There it waits for
 * the part of an earlier transaction. It changes a node over one connection, so a node commits its part as a whole. All
 * that was changed under the lock before is visible then, on every node.
 */

import type { SQL } from 'bun'

/** A row of a statement that takes the lock. */
export interface LockRow {
  /** Not null when the list is distributed. */
  readonly nodes: string | null
}

/** An expression for the statement that takes the lock. It also makes the transaction use one connection for each node. */
export function findNodes(sql: SQL) {
  return sql`CASE WHEN to_regclass('rollcall.node_lock') IS NOT NULL
    THEN set_config('citus.max_adaptive_executor_pool_size', '1', true)
      || set_config('citus.multi_shard_modify_mode', 'sequential', true) END AS nodes`
}

/** Waits until earlier changes are visible on every node. Does nothing when the list is not distributed. */
export async function lockNodes(sql: SQL, { nodes }: LockRow): Promise<void> {
  if (nodes !== null) await sql`UPDATE rollcall.node_lock SET turn = turn + 1`
}

/** Reads the bytes of the distributed tables, which are on the other nodes. */
export async function readNodeBytes(sql: SQL): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT coalesce(sum(citus_total_relation_size(logicalrelid)), 0)::float8 AS bytes
    FROM pg_dist_partition WHERE logicalrelid::text LIKE 'rollcall.%' AND partmethod = 'h'`
  return row?.bytes ?? 0
}

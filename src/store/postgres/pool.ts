/**
 * The connections to a PostgreSQL list. Every call of the service ends within its deadline: the server cancels a
 * statement that takes too long, and if the server does not answer at all, the pool replaces its connections. The pool
 * does not retry: the next call finds out for itself whether the server works again.
 */

import type { SQL } from 'bun'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { MissingListError, StoreError } from '../../subscriber.ts'
import type { ClientOptions } from './client.ts'
import { type Connections, createConnections } from './connections.ts'
import { INSUFFICIENT_PRIVILEGE, isLost, toCode, toReason } from './error.ts'
import { findNodes, type LockRow, lockNodes } from './nodes.ts'
import { createPermissionError, findMissingPermissions } from './permissions.ts'
import { createMissingRowError, migrate } from './schema.ts'

export interface PoolOptions extends ClientOptions {
  /** The name of the list in errors, without user and password. */
  readonly name: string
  /** Whether to create a list that is missing. The default is true. */
  readonly create?: boolean
}

export interface Pool {
  /**
   * Runs work on a list whose schema has the right version.
   *
   * @throws StoreError for every error
   */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /**
   * Runs work in a transaction that locks the row of `list`. All that changes the list needs this lock, so a later commit
   * has higher seqs, and the suppressions do not change meanwhile. Acceptances do not need it.
   *
   * @throws StoreError for every error
   */
  runLocked<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /**
   * Like runLocked, but returns undefined at once, without the work, when another process holds the lock.
   *
   * @throws StoreError for every error
   */
  tryLocked<T>(work: (transaction: SQL) => Promise<T>): Promise<T | undefined>
  /** Closes all connections. Calls in progress fail. */
  close(): Promise<void>
}

/** Milliseconds until the client drops a server that does not answer: after all deadlines of the server. */
const DROP_MS = STORE_DEADLINE_MS - 500

/**
 * Creates the pool. It connects at the first call.
 *
 * @throws StoreError when the URL is not valid
 */
export function createPool(options: PoolOptions): Pool {
  const { name, hasDeadline, create = true } = options
  let connections = createConnections(options)
  let migrated: Promise<void> | undefined

  async function call<T>(work: (connections: Connections) => Promise<T>): Promise<T> {
    const current = connections
    const attempt = async () => {
      migrated ??= migrate(current, create)
      await migrated
      return await work(current)
    }
    const attempting = attempt().catch(async (error: unknown) => {
      throw await explain(error, current)
    })
    try {
      return hasDeadline ? await withDeadline(attempting, current) : await attempting
    } catch (error) {
      // The server may return with another schema: a new database, an older backup, or after a migration.
      migrated = undefined
      if (isLost(error)) replaceConnections(current, STORE_DEADLINE_MS / 1000)
      throw toStoreError(name, error)
    }
  }

  async function withDeadline<T>(attempt: Promise<T>, current: Connections): Promise<T> {
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      replaceConnections(current, 0)
      timeout.reject(new StoreError('the server does not answer'))
    }, DROP_MS)
    try {
      return await Promise.race([attempt, timeout.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  function replaceConnections(current: Connections, timeout: number): void {
    if (current !== connections) return
    connections = createConnections(options)
    void current.close(timeout)
  }

  return {
    run: (work) => call((current) => current.run(work)),
    runLocked: (work) =>
      call((current) =>
        current.transact(async (transaction) => {
          const [row] = await transaction<LockRow[]>`
            SELECT ${waitForStorage(transaction)}, ${findNodes(transaction)} FROM rollcall.list FOR UPDATE`
          // Without a row, nothing is locked.
          if (!row) throw createMissingRowError()
          await lockNodes(transaction, row)
          return await work(transaction)
        }),
      ),
    tryLocked: (work) =>
      call((current) =>
        current.transact(async (transaction) => {
          const [row] = await transaction<LockRow[]>`
            SELECT ${waitForStorage(transaction)}, ${findNodes(transaction)} FROM rollcall.list FOR UPDATE SKIP LOCKED`
          if (!row) return undefined
          await lockNodes(transaction, row)
          return await work(transaction)
        }),
      ),
    close: () => connections.close(),
  }
}

/**
 * An expression that makes the commit of its transaction wait for stable storage, also where the default of the server or
 * of the role is weaker. A stricter setting stays: with `remote_apply`, a commit waits for the replica too.
 */
export function waitForStorage(sql: SQL) {
  return sql`set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`
}

/** Names the permissions that the user lacks, if that is the reason. */
export async function explain(error: unknown, connections: Connections): Promise<unknown> {
  if (toCode(error) !== INSUFFICIENT_PRIVILEGE) return error
  const missing = await connections.run((sql) => findMissingPermissions(sql, 'commands')).catch(() => [])
  return missing.length > 0 ? createPermissionError(missing) : error
}

/** Names the list in an error. */
export function toStoreError(name: string, error: unknown): StoreError {
  const reason = error instanceof StoreError ? error.message : toReason(error)
  const message = `the list ${name} cannot be used: ${reason}`
  return error instanceof MissingListError ? new MissingListError(message) : new StoreError(message)
}

/**
 * The connections to a PostgreSQL list. What is asked of them comes back in time, whatever the server does: it is
 * told to give up a statement that takes too long; and if it does not even say so, the connections are dropped for new
 * ones. Nothing is tried again here: the next call finds the server as it then is.
 */

import { SQL } from 'bun'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { migrate } from './schema.ts'

export interface PoolOptions {
  readonly url: string
  /** What errors call the list; without user and password. */
  readonly name: string
  /** Most connections. */
  readonly connections: number
  /** Whether a call fails when it takes longer than the endpoint's deadline. */
  readonly hasDeadline: boolean
  /** Whether a list that is missing is made; it is by default. */
  readonly create?: boolean
}

export interface Pool {
  /**
   * Does work on a list whose schema is there.
   *
   * @throws StoreError, whatever goes wrong
   */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /**
   * Does work in a transaction, under the lock without which nobody writes: what commits later has a higher seq,
   * and the suppressions stay as they are.
   */
  runLocked<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Drops all connections; what is under way fails. */
  close(): Promise<void>
}

// One after the other, so that the one that knows most about the fault comes first, and all before the caller gives up.
const CONNECT_S = 3
const LOCK_MS = STORE_DEADLINE_MS - 1500
const STATEMENT_MS = STORE_DEADLINE_MS - 1000
const DROP_MS = STORE_DEADLINE_MS - 500

/**
 * Prepares the connections; none is made before the first work.
 *
 * @throws StoreError when the URL cannot be understood
 */
export function createPool(options: PoolOptions): Pool {
  const { name, hasDeadline, create = true } = options
  let sql = connect(options)
  let ready: Promise<void> | undefined

  async function run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const used = sql
    const attempt = async () => {
      ready ??= migrate(used, create)
      await ready
      return await work(used)
    }
    try {
      return hasDeadline ? await withDeadline(attempt(), used) : await attempt()
    } catch (error) {
      // The server may come back as another one: a new database, an older copy.
      ready = undefined
      throw toStoreError(name, error)
    }
  }

  async function withDeadline<T>(attempt: Promise<T>, used: SQL): Promise<T> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      drop(used)
      late.reject(new StoreError('the server does not answer'))
    }, DROP_MS)
    try {
      return await Promise.race([attempt, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  function drop(used: SQL): void {
    if (used !== sql) return
    sql = connect(options)
    void close(used)
  }

  return {
    run,
    runLocked: (work) =>
      run(async (used) => {
        const { result } = await used.begin(async (transaction) => {
          await transaction`SELECT FROM rollcall.list FOR UPDATE`
          return { result: await work(transaction) }
        })
        return result
      }),
    close: () => close(sql),
  }
}

function connect({ url, name, connections, hasDeadline }: PoolOptions): SQL {
  try {
    return new SQL({
      adapter: 'postgres',
      url,
      max: connections,
      connectionTimeout: CONNECT_S,
      connection: {
        application_name: 'rollcall',
        // A commit that is confirmed is on stable storage, even where the server's default says otherwise.
        synchronous_commit: 'on',
        // Each statement sees what was committed before it: the lock relies on that.
        default_transaction_isolation: 'read committed',
        lock_timeout: LOCK_MS,
        // A process that stops in the middle of a transaction gives the lock back before others miss their deadline.
        idle_in_transaction_session_timeout: LOCK_MS,
        ...(hasDeadline && { statement_timeout: STATEMENT_MS }),
      },
    })
  } catch (error) {
    throw toStoreError(name, error)
  }
}

async function close(sql: SQL): Promise<void> {
  // It rejects with the queries that are still under way, whose callers know by themselves.
  await sql.close({ timeout: 0 }).catch(() => {})
}

function toStoreError(name: string, error: unknown): StoreError {
  const reason = error instanceof StoreError ? error.message : toReason(error)
  return new StoreError(`the list ${name} cannot be used: ${reason}`)
}

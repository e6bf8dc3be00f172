/**
 * The connections to a PostgreSQL list. Every call of the service ends within its deadline: the server cancels a
 * statement that takes too long, and if the server does not answer at all, the pool replaces its connections. The pool
 * does not retry: the next call finds out for itself whether the server works again.
 */

import { SQL } from 'bun'
import type { ConnectionParameters } from '../../config/connection-parameters.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { MissingListError, StoreError } from '../../subscriber.ts'
import { INSUFFICIENT_PRIVILEGE, toReason } from './error.ts'
import { findNodes, type LockRow, lockNodes } from './nodes.ts'
import { createPermissionError, findMissingPermissions } from './permissions.ts'
import { createMissingRowError, migrate } from './schema.ts'

export interface PoolOptions {
  readonly parameters: ConnectionParameters
  /** The name of the list in errors, without user and password. */
  readonly name: string
  /** Whether a call must end within STORE_DEADLINE_MS, as the service needs it. */
  readonly hasDeadline: boolean
  /** Whether to create a list that is missing. The default is true. */
  readonly create?: boolean
  /** Maximum number of connections. The default is 3. */
  readonly max?: number
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

const MAX_CONNECTIONS = 3

// All end before STORE_DEADLINE_MS, the shortest first: the client stops connecting, the server stops waiting for a
// lock, the server cancels the statement, and the client drops a server that does not answer. So the error that
// explains most comes first.
const CONNECT_S = (STORE_DEADLINE_MS - 2000) / 1000
const LOCK_MS = STORE_DEADLINE_MS - 1500
const STATEMENT_MS = STORE_DEADLINE_MS - 1000
const DROP_MS = STORE_DEADLINE_MS - 500

/**
 * Creates the pool. It connects at the first call.
 *
 * @throws StoreError when the URL is not valid
 */
export function createPool(options: PoolOptions): Pool {
  const { name, hasDeadline, create = true } = options
  let sql = connect(options)
  let migrated: Promise<void> | undefined

  async function run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const current = sql
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
      throw toStoreError(name, error)
    }
  }

  async function withDeadline<T>(attempt: Promise<T>, current: SQL): Promise<T> {
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      replaceConnections(current)
      timeout.reject(new StoreError('the server does not answer'))
    }, DROP_MS)
    try {
      return await Promise.race([attempt, timeout.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  function replaceConnections(current: SQL): void {
    if (current !== sql) return
    sql = connect(options)
    void close(current)
  }

  return {
    run,
    runLocked: (work) =>
      run((current) =>
        transact(current, async (transaction) => {
          const [row] = await transaction<LockRow[]>`
            SELECT ${waitForStorage(transaction)}, ${findNodes(transaction)} FROM rollcall.list FOR UPDATE`
          // Without a row, nothing is locked.
          if (!row) throw createMissingRowError()
          await lockNodes(transaction, row)
          return await work(transaction)
        }),
      ),
    tryLocked: (work) =>
      run((current) =>
        transact(current, async (transaction) => {
          const [row] = await transaction<LockRow[]>`
            SELECT ${waitForStorage(transaction)}, ${findNodes(transaction)} FROM rollcall.list FOR UPDATE SKIP LOCKED`
          if (!row) return undefined
          await lockNodes(transaction, row)
          return await work(transaction)
        }),
      ),
    close: () => close(sql),
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
export async function explain(error: unknown, sql: SQL): Promise<unknown> {
  if (!(error instanceof SQL.PostgresError) || error.errno !== INSUFFICIENT_PRIVILEGE) return error
  const missing = await findMissingPermissions(sql, 'commands').catch(() => [])
  return missing.length > 0 ? createPermissionError(missing) : error
}

async function transact<T>(sql: SQL, work: (transaction: SQL) => Promise<T>): Promise<T> {
  // `begin` treats an array as a list of queries, so the result is in an object.
  const { result } = await sql.begin(async (transaction) => ({ result: await work(transaction) }))
  return result
}

/**
 * Creates the connections, which are made at the first query. Every option is given, because Bun reads the environment for
 * each that is missing, and prefers some variables to the URL.
 *
 * @throws StoreError when a parameter is not valid
 */
export function connect({ parameters, name, hasDeadline, max = MAX_CONNECTIONS }: PoolOptions): SQL {
  const { hosts, user, password, database, sslMode, tls, channelBinding } = parameters
  const [{ host, port, address } = LOCAL] = hosts
  try {
    return new SQL(`postgres://?sslmode=${sslMode}`, {
      adapter: 'postgres',
      hostname: address ?? host,
      port,
      username: user,
      password,
      database,
      // With this object, TLS is never off.
      ...(sslMode !== 'disable' && {
        tls: { ...tls, serverName: host, ...(sslMode.startsWith('verify') && { rejectUnauthorized: true }) },
      }),
      channelBinding,
      max,
      connectionTimeout: toConnectTimeout(parameters, hasDeadline),
      connection: toSettings(parameters, hasDeadline),
    })
  } catch (error) {
    throw toStoreError(name, error)
  }
}

const LOCAL = { host: 'localhost', port: 5432, address: undefined }

/** In seconds. A connection of the service must not take longer than its deadline. */
function toConnectTimeout({ connectTimeout = CONNECT_S }: ConnectionParameters, hasDeadline: boolean): number {
  return hasDeadline ? Math.min(connectTimeout, CONNECT_S) : connectTimeout
}

/** The settings of the session. They win over those in `options`. */
function toSettings({ applicationName, options }: ConnectionParameters, hasDeadline: boolean) {
  return {
    ...(options && { options }),
    application_name: applicationName,
    // Each statement sees what was committed before it. The lock relies on that.
    default_transaction_isolation: 'read committed',
    lock_timeout: LOCK_MS,
    // A process that stops in a transaction loses the lock before other processes miss their deadline.
    idle_in_transaction_session_timeout: LOCK_MS,
    ...(hasDeadline && { statement_timeout: STATEMENT_MS }),
  }
}

async function close(sql: SQL): Promise<void> {
  // Closing rejects with the error of queries in progress. Their callers get the same error.
  await sql.close({ timeout: 0 }).catch(() => {})
}

/** Names the list in an error. */
export function toStoreError(name: string, error: unknown): StoreError {
  const reason = error instanceof StoreError ? error.message : toReason(error)
  const message = `the list ${name} cannot be used: ${reason}`
  return error instanceof MissingListError ? new MissingListError(message) : new StoreError(message)
}

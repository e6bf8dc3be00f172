/**
 * The connections to a PostgreSQL list. Nothing depends on a session or a prepared statement, so a pooler may run each
 * transaction on another connection. No call but `repeat` is tried twice. The next one finds out for itself whether the server works
 * again.
 */

import { SQL } from 'bun'
import { toListName } from '../../config/list-url.ts'
import type { PostgresServer } from '../../config/postgres-url.ts'
import { withDeadline } from '../../deadline.ts'
import { Failure } from '../../failure.ts'
import { OutdatedError } from '../../subscriber.ts'
import type { OnOutdated } from '../version.ts'
import { isClosed, isLost, toServerError } from './error.ts'
import { prepareSchema, type SchemaOptions } from './schema.ts'

interface ClientOptions {
  readonly server: PostgresServer
  /** See SchemaOptions. */
  readonly create: boolean
  /** See SchemaOptions. Default: LOCK_MS. */
  readonly lockMs?: number
  /** See SchemaOptions. */
  readonly onOlder?: SchemaOptions['onOlder']
  /** Gets the reason when a newer program has migrated the list. */
  readonly onOutdated?: OnOutdated | undefined
  /** Milliseconds after which a call fails and its connections are replaced. Default: no limit. */
  readonly deadlineMs?: number
  /** Runs before the first call, and before the next one after an error. What it throws is the error of the call. */
  readonly check?: (sql: SQL) => Promise<void>
  /** Runs when a list was created. */
  readonly onCreate?: () => void
  /** Most connections. The default is 2. */
  readonly max?: number
}

/** Every call rejects with a Failure: a StoreError, or that of a signal. */
export interface Client {
  /**
   * Runs work on a list. The schema is looked at before the first work, and before the next one after an error. Another process may
   * migrate the list at any moment, so work that changes the list looks at its version under the lock.
   */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /**
   * The same, but when the connection was lost, for example because a firewall forgot it, the work is done once more on new ones, within
   * the same deadline. The first one may have been done too: only the answer may have been lost.
   */
  repeat<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction. Each statement sees what was committed before it. */
  transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction, and rolls it back. */
  rollBack<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Begins a transaction that sees one state of the list. */
  snapshot(): Promise<OpenTransaction>
  /** Reads one state of the list. */
  read<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Closes all connections. Calls in progress fail. */
  close(): Promise<void>
}

/** What a call of the client has come to. */
interface Call {
  /** The connections that the last attempt used. After a loss, only these are replaced: another call may have made newer ones. */
  sql: SQL
  /** Set when the caller gets an error: nobody would wait for another attempt. */
  isOver: boolean
}

/** A transaction that is rolled back when the caller disposes of it. Its errors are those of the driver: use it in `run`. */
interface OpenTransaction extends AsyncDisposable {
  readonly transaction: SQL
}

/** Milliseconds for which a command waits for a process that migrates the list. */
const LOCK_MS = 10_000

/** Seconds until the client stops connecting. A request then still gets its response in time. */
const CONNECT_S = 3

/**
 * Seconds until an idle connection is closed. Firewalls, address translation and load balancers forget an idle connection after
 * minutes, without a word to either end: a request on it would wait for an answer that never comes. A new connection takes
 * milliseconds. Not while a transaction is open.
 */
export const IDLE_S = 2

/** Creates the client. It connects, and creates the schema, at the first call: the server may be down now. */
export function createClient(options: ClientOptions): Client {
  const { server, create, lockMs = LOCK_MS, onOlder, onOutdated, deadlineMs, check, onCreate, max = 2 } = options
  const name = toListName({ kind: 'postgres', server })
  let sql = connect(server, max)
  /** Resolves when the list may be used. Undefined after an error: it may be a new database, an older backup, or migrated. */
  let ready: Promise<void> | undefined

  async function prepare(current: SQL): Promise<void> {
    await check?.(current)
    if (await prepareSchema(current, { create, lockMs, onOlder })) onCreate?.()
  }

  /** Makes new connections, which are prepared at the next attempt. */
  function replace(lost: SQL): void {
    // Another call may have done it.
    if (lost !== sql) return
    sql = connect(server, max)
    ready = undefined
    void close(lost)
  }

  async function attempt<T>(work: (sql: SQL) => Promise<T>, call: Call): Promise<T> {
    call.sql = sql
    ready ??= prepare(call.sql)
    await ready
    return await work(call.sql)
  }

  /** For work that may be done twice. */
  async function attemptTwice<T>(work: (sql: SQL) => Promise<T>, call: Call): Promise<T> {
    try {
      return await attempt(work, call)
    } catch (error) {
      if (call.isOver || !isClosed(error)) throw error
      replace(call.sql)
      return await attempt(work, call)
    }
  }

  /** @param start `attempt` or `attemptTwice` */
  async function run<T>(work: (sql: SQL) => Promise<T>, start: typeof attempt<T>): Promise<T> {
    const call: Call = { sql, isOver: false }
    try {
      const result = start(work, call)
      return await (deadlineMs ? withDeadline(result, deadlineMs, toLateError) : result)
    } catch (error) {
      // At the deadline, `attemptTwice` still waits for its first attempt.
      call.isOver = true
      // The list may have become another one.
      ready = undefined
      if (isLost(error)) replace(call.sql)
      if (error instanceof OutdatedError) onOutdated?.(error.message)
      throw error instanceof Failure ? error : toServerError(name, error)
    }
  }

  const runOnce = <T>(work: (sql: SQL) => Promise<T>) => run(work, attempt<T>)

  return {
    run: runOnce,
    repeat: (work) => run(work, attemptTwice),
    transact: (work) => runOnce((current) => commit(current, work)),
    rollBack: (work) => runOnce((current) => workIn(begin(current, 'BEGIN'), work)),
    snapshot: () => runOnce((current) => begin(current, BEGIN_SNAPSHOT)),
    read: (work) => runOnce((current) => workIn(begin(current, BEGIN_SNAPSHOT), work)),
    close: () => close(sql),
  }
}

/** Runs work in a transaction, and commits it. */
async function commit<T>(sql: SQL, work: (transaction: SQL) => Promise<T>): Promise<T> {
  // `begin` takes an array for a list of queries, so the result is in an object.
  const { result } = await sql.begin('isolation level read committed', async (transaction) => ({
    result: await work(transaction),
  }))
  return result
}

/**
 * The caller may take its time between two pages. A policy must not hide rows from it. Bun's client reads dates of the style ISO
 * only, which it asks for when it connects: another user of a pooler may have set another one since.
 */
const BEGIN_SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL row_security = off; SET LOCAL DateStyle = 'ISO'`

async function workIn<T>(begun: Promise<OpenTransaction>, work: (transaction: SQL) => Promise<T>): Promise<T> {
  await using open = await begun
  return await work(open.transaction)
}

async function begin(sql: SQL, statements: string): Promise<OpenTransaction> {
  const transaction = await sql.reserve()
  const end = async () => {
    // A lost connection has ended it already.
    await transaction`ROLLBACK`.catch(() => {})
    transaction.release()
  }
  try {
    await transaction.unsafe(statements)
  } catch (error) {
    await end()
    throw error
  }
  return { transaction, [Symbol.asyncDispose]: end }
}

/** Connections to a server that does not answer in time are replaced, as those that it closed. */
const toLateError = () => Object.assign(new Error('no answer in time'), { code: 'CONNECTION_TIMEOUT' })

/**
 * Creates connections. Nothing is sent before the first query.
 *
 * @param max most connections
 * @param idleS seconds until an idle one is closed; 0 for never
 */
export function connect(server: PostgresServer, max: number, idleS = IDLE_S): SQL {
  // Every option is given (of `tls`, see `toTls`), because Bun reads the environment for each that is missing.
  const { host, port, user, password, database, sslMode, channelBinding } = server
  const tls = toTls(server)
  return new SQL(`postgres://?sslmode=${sslMode}`, {
    adapter: 'postgres',
    hostname: host,
    port,
    username: user,
    password,
    database,
    ...(tls && { tls }),
    channelBinding,
    max,
    connectionTimeout: CONNECT_S,
    idleTimeout: idleS,
    prepare: false,
    connection: { application_name: 'rollcall' },
  })
}

/** Undefined without TLS: with this option, even an empty one, TLS is never off. */
function toTls({ host, sslMode, ca }: PostgresServer) {
  if (sslMode === 'disable') return undefined
  const isVerified = sslMode.startsWith('verify')
  return { serverName: host, ...(ca && { ca }), ...(isVerified && { rejectUnauthorized: true }) }
}

/** Closes all connections. Ignores the error of queries in progress, because their callers get it. */
export async function close(sql: SQL): Promise<void> {
  await sql.close({ timeout: 0 }).catch(() => {})
}

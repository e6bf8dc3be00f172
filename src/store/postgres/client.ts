/**
 * The connections to a PostgreSQL list. Nothing depends on a session or a prepared statement, so a pooler may run each
 * transaction on another connection. Nothing is retried: the next call finds out for itself whether the server works again.
 */

import { SQL } from 'bun'
import { toListName } from '../../config/list-url.ts'
import type { PostgresServer } from '../../config/postgres-url.ts'
import { Failure } from '../../failure.ts'
import { isLost, NO_STANDBY, NoAnswerError, toStoreError } from './error.ts'
import { migrate } from './schema.ts'

export interface ClientOptions {
  readonly server: PostgresServer
  /** Whether to create a list that is missing. The default is true. */
  readonly create?: boolean | undefined
  /** Milliseconds after which a call fails and its connections are replaced. Default: no limit. */
  readonly deadlineMs?: number
  /** Most connections. The default is 2. */
  readonly max?: number
}

/** Every call rejects with a StoreError. */
export interface Client {
  /** Runs work on a list whose schema has the right version. */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction, and takes it back. */
  rehearse<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction. Each statement sees what was committed before it. */
  transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Begins a transaction that sees one state of the list. */
  snapshot(): Promise<OpenTransaction>
  /** Closes all connections. Calls in progress fail. */
  close(): Promise<void>
}

/** A transaction that is taken back when the caller disposes of it. Its errors are those of the driver: use it in `run`. */
export interface OpenTransaction extends AsyncDisposable {
  readonly transaction: SQL
}

/** Seconds until the client stops connecting. A request then still gets its response in time. */
const CONNECT_S = 3

/** Creates the client. It connects, and creates the schema, at the first call: the server may be down now. */
export function createClient(options: ClientOptions): Client {
  const { server, create = true, deadlineMs, max = 2 } = options
  const name = toListName({ kind: 'postgres', server })
  // A service does not end what a command waits for.
  const open = () => connect(server, max, deadlineMs ? 'rollcall service' : 'rollcall')
  let sql = open()
  let migrated: Promise<void> | undefined

  async function run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const current = sql
    const attempt = async () => {
      migrated ??= migrate(current, { create })
      await migrated
      return await work(current)
    }
    try {
      return await (deadlineMs ? withDeadline(attempt(), deadlineMs) : attempt())
    } catch (error) {
      // The next call checks the schema again: it may be a new database, an older backup, or migrated.
      migrated = undefined
      if (isLost(error) && current === sql) {
        sql = open()
        void close(current)
      }
      if (error instanceof Failure) throw error
      const waitsForStandby = error instanceof NoAnswerError && deadlineMs && (await endGivenUp(sql, deadlineMs))
      throw toStoreError(name, waitsForStandby ? NO_STANDBY : error)
    }
  }

  return {
    run,
    transact: (work) =>
      run(async (current) => {
        // `begin` takes an array for a list of queries, so the result is in an object.
        const { result } = await current.begin('isolation level read committed', async (transaction) => ({
          result: await work(transaction),
        }))
        return result
      }),
    rehearse: (work) =>
      run(async (current) => {
        await using open = await begin(current, 'BEGIN')
        return await work(open.transaction)
      }),
    snapshot: () => run((current) => begin(current, BEGIN_SNAPSHOT)),
    close: () => close(sql),
  }
}

/** The caller may take its time between two pages. A policy must not hide rows from it. */
const BEGIN_SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL row_security = off`

async function begin(sql: SQL, statements: string): Promise<OpenTransaction> {
  const transaction = await sql.reserve()
  const end = async () => {
    // A lost connection has ended it already.
    await transaction`ROLLBACK`.catch(() => {})
    transaction.release()
  }
  await transaction.unsafe(statements).catch((error) => end().then(() => Promise.reject(error)))
  return { transaction, [Symbol.asyncDispose]: end }
}

/** Milliseconds that `endGivenUp` may take. A request still gets its response in time. */
const END_MS = 250

/**
 * Ends the statements of services that have waited for a synchronous standby for about the deadline. They were given up, and
 * each would keep its connection until the standby is back. Not by a cancel: the server would confirm them without the standby.
 *
 * @returns whether there was one
 */
async function endGivenUp(sql: SQL, deadlineMs: number): Promise<boolean> {
  const ended = sql<object[]>`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name = current_setting('application_name')
      AND wait_event = 'SyncRep' AND query_start < clock_timestamp() - ${deadlineMs - 500}::integer * interval '1 millisecond'`
  // It only explains and tidies up: the deadline is the error if it fails.
  return await withDeadline(
    ended.then(({ length }) => length > 0),
    END_MS,
  ).catch(() => false)
}

/** Rejects after the deadline. Connections to a server that does not answer are replaced then. */
async function withDeadline<T>(attempt: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new NoAnswerError()), milliseconds)
  try {
    return await Promise.race([attempt, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Every option is given, because Bun reads the environment for each that is missing. */
function connect(server: PostgresServer, max: number, applicationName: string): SQL {
  const { host, port, user, password, database, sslMode, ca, channelBinding } = server
  return new SQL(`postgres://?sslmode=${sslMode}`, {
    adapter: 'postgres',
    hostname: host,
    port,
    username: user,
    password,
    database,
    // With this object, TLS is never off.
    ...(sslMode !== 'disable' && {
      tls: { ...(ca && { ca }), serverName: host, ...(sslMode.startsWith('verify') && { rejectUnauthorized: true }) },
    }),
    channelBinding,
    max,
    connectionTimeout: CONNECT_S,
    prepare: false,
    connection: { application_name: applicationName },
  })
}

/** Closes all connections. Ignores the error of queries in progress, because their callers get it. */
async function close(sql: SQL): Promise<void> {
  await sql.close({ timeout: 0 }).catch(() => {})
}

/**
 * The connections to the server of a PostgreSQL list, or to a pooler in front of it.
 *
 * A pooler such as PgBouncer refuses or ignores the settings of a session, and may run each transaction in another one. So
 * behind a pooler, every call is a transaction that begins with its settings, and no statement is prepared. Without a pooler,
 * the session has the settings, and a call with one statement takes one round trip.
 */

import { SQL } from 'bun'
import type { ConnectionParameters } from '../../config/connection-parameters.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'

export interface ConnectionOptions {
  readonly parameters: ConnectionParameters
  /** Whether a statement must end within STORE_DEADLINE_MS, as the service needs it. */
  readonly hasDeadline: boolean
  /** Maximum number of connections. The default is 3. */
  readonly max?: number
}

export interface Connections {
  /** Runs work that does not change the list in more than one statement. */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction. Each statement sees what was committed before it. */
  transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Whether a pooler is in front of the server. */
  isPooled(): Promise<boolean>
  /** Closes all connections. Calls in progress get this time, in seconds, and fail then. */
  close(options: { timeout: number }): Promise<void>
}

const MAX_CONNECTIONS = 3

// All end before STORE_DEADLINE_MS, the shortest first: the client stops connecting, the server stops waiting for a
// lock, the server cancels the statement, and the client drops a server that does not answer. So the error that
// explains most comes first.
const CONNECT_S = (STORE_DEADLINE_MS - 2000) / 1000
const LOCK_MS = STORE_DEADLINE_MS - 1500
const STATEMENT_MS = STORE_DEADLINE_MS - 1000

/** Each statement sees what was committed before it. The lock relies on that. */
const ISOLATION = 'read committed'

/** The settings of a session, or of each transaction. */
function toSettings(hasDeadline: boolean) {
  return {
    lock_timeout: LOCK_MS,
    // A process that stops in a transaction loses the lock before other processes miss their deadline.
    idle_in_transaction_session_timeout: LOCK_MS,
    ...(hasDeadline && { statement_timeout: STATEMENT_MS }),
  }
}

/**
 * Creates the connections, which are made at the first call.
 *
 * @throws an error of Bun's client when a parameter is not valid
 */
export function createConnections(options: ConnectionOptions): Connections {
  const session = toSettings(options.hasDeadline)
  const statements = Object.entries(session)
    .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
    .join('; ')
  let sql = createClient(options, { ...session, default_transaction_isolation: ISOLATION })
  let pooled: Promise<boolean> | undefined

  /** Finds out once whether there is a pooler, and replaces the client then. */
  function findPooler(): Promise<boolean> {
    pooled ??= hasPooler(sql).then(
      (found) => {
        if (!found) return false
        void close(sql, { timeout: 0 })
        sql = createClient(options, 'pooled')
        return true
      },
      (error: unknown) => {
        pooled = undefined
        throw error
      },
    )
    return pooled
  }

  async function transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T> {
    const settings = (await findPooler()) ? statements : undefined
    const { result } = await sql.begin(`isolation level ${ISOLATION}`, async (transaction) => {
      if (settings) await transaction.unsafe(settings)
      // `begin` treats an array as a list of queries, so the result is in an object.
      return { result: await work(transaction) }
    })
    return result
  }

  return {
    transact,
    isPooled: findPooler,
    run: async (work) => ((await findPooler()) ? await transact(work) : await work(sql)),
    close: (how) => close(sql, how),
  }
}

/**
 * Every option is given, because Bun reads the environment for each that is missing, and prefers some variables to the URL.
 *
 * @param session the settings of the session, which win over those in `options`
 */
function createClient(
  { parameters, hasDeadline, max = MAX_CONNECTIONS }: ConnectionOptions,
  session: Readonly<Record<string, number | string>> | 'pooled',
): SQL {
  const { hosts, user, password, database, sslMode, tls, channelBinding, applicationName, options } = parameters
  const [{ host, port, address } = LOCAL] = hosts
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
    prepare: session !== 'pooled',
    connection: {
      ...(options && { options }),
      application_name: applicationName,
      ...(session !== 'pooled' && session),
    },
  })
}

const LOCAL = { host: 'localhost', port: 5432, address: undefined }

/** In seconds. A connection of the service must not take longer than its deadline. */
function toConnectTimeout({ connectTimeout = CONNECT_S }: ConnectionParameters, hasDeadline: boolean): number {
  return hasDeadline ? Math.min(connectTimeout, CONNECT_S) : connectTimeout
}

/** SQLSTATE protocol_violation. PgBouncer refuses settings of the session, among others, with this code. */
export const REFUSED_BY_POOLER = '08P01'

/**
 * Checks whether the settings of the session have arrived at the server. PgBouncer refuses the connection, or ignores the
 * settings that are in its `ignore_startup_parameters`.
 */
async function hasPooler(sql: SQL): Promise<boolean> {
  try {
    // Not a template: a pooler in transaction mode may not be able to prepare a statement.
    const [row] = await sql.unsafe("SELECT source FROM pg_catalog.pg_settings WHERE name = 'lock_timeout'")
    return row?.source !== 'client'
  } catch (error) {
    if (error instanceof SQL.PostgresError && error.errno === REFUSED_BY_POOLER) return true
    throw error
  }
}

async function close(sql: SQL, options: { timeout: number }): Promise<void> {
  // Closing rejects with the error of queries in progress. Their callers get the same error.
  await sql.close(options).catch(() => {})
}

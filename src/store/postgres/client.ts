/** Bun's client for one host, with every option that Rollcall needs. */

import { SQL } from 'bun'
import type { ConnectionParameters, PostgresHost } from '../../config/connection-parameters.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'

export interface ClientOptions {
  readonly parameters: ConnectionParameters
  /** Whether a statement must end within STORE_DEADLINE_MS, as the service needs it. */
  readonly hasDeadline: boolean
  /** Maximum number of connections. The default is 3. */
  readonly max?: number
}

const MAX_CONNECTIONS = 3

// All end before STORE_DEADLINE_MS, the shortest first: the client stops connecting, the server stops waiting for a
// lock, the server cancels the statement, and the client drops a server that does not answer. So the error that
// explains most comes first.
const CONNECT_S = (STORE_DEADLINE_MS - 2000) / 1000
const LOCK_MS = STORE_DEADLINE_MS - 1500
const STATEMENT_MS = STORE_DEADLINE_MS - 1000

/** Each statement sees what was committed before it. The lock relies on that. */
export const ISOLATION = 'read committed'

/** The settings of a session, or of each transaction, by the names of PostgreSQL. */
export function toSettings({ hasDeadline }: ClientOptions): Readonly<Record<string, number>> {
  return {
    lock_timeout: LOCK_MS,
    // A process that stops in a transaction loses the lock before other processes miss their deadline.
    idle_in_transaction_session_timeout: LOCK_MS,
    ...(hasDeadline && { statement_timeout: STATEMENT_MS }),
  }
}

/**
 * Creates a client, which connects at the first query. Every option is given, because Bun reads the environment for each that
 * is missing, and prefers some variables to the URL.
 *
 * @param kind `direct`: the session gets the settings. They win over those in `options`. `pooled`: it gets none, because a
 * pooler may refuse them, and prepares no statement.
 * @throws an error of Bun's client when a parameter is not valid
 */
export function createClient(
  options: ClientOptions,
  { host, port, address }: PostgresHost,
  kind: 'direct' | 'pooled',
): SQL {
  const { parameters, hasDeadline, max = MAX_CONNECTIONS } = options
  const { user, password, database, sslMode, tls, channelBinding, applicationName } = parameters
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
    prepare: kind === 'direct',
    connection: {
      ...(parameters.options && { options: parameters.options }),
      application_name: applicationName,
      ...(kind === 'direct' && { default_transaction_isolation: ISOLATION, ...toSettings(options) }),
    },
  })
}

/** In seconds. A connection of the service must not take longer than its deadline. */
function toConnectTimeout({ connectTimeout = CONNECT_S }: ConnectionParameters, hasDeadline: boolean): number {
  return hasDeadline ? Math.min(connectTimeout, CONNECT_S) : connectTimeout
}

/** @param timeout seconds that queries in progress have left */
export async function closeClient(sql: SQL, timeout = 0): Promise<void> {
  // Closing rejects with the error of queries in progress. Their callers get the same error.
  await sql.close({ timeout }).catch(() => {})
}

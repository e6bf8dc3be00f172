/**
 * The connections to the server of a PostgreSQL list, or to a pooler in front of it.
 *
 * A pooler such as PgBouncer refuses or ignores the settings of a session, and may run each transaction in another one. So
 * behind a pooler, every call is a transaction that begins with its settings, and no statement is prepared. Without a pooler,
 * the session has the settings, and a call with one statement takes one round trip.
 */

import type { SQL } from 'bun'
import { type ClientOptions, closeClient, ISOLATION, toSettings } from './client.ts'
import { findServer, type Server } from './search.ts'

export interface Connections {
  /** Runs work that does not change the list in more than one statement. */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T>
  /** Runs work in a transaction. Each statement sees what was committed before it. */
  transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T>
  /** Whether a pooler is in front of the server. */
  isPooled(): Promise<boolean>
  /**
   * Closes all connections.
   *
   * @param timeout seconds that calls in progress have left. They fail then.
   */
  close(timeout?: number): Promise<void>
}

/** Creates the connections. The first call searches the server. If that fails, the next call searches again. */
export function createConnections(options: ClientOptions): Connections {
  const settings = Object.entries(toSettings(options)).map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
  const closing = new AbortController()
  let server: Promise<Server> | undefined

  function find(): Promise<Server> {
    server ??= findServer(options, closing.signal).catch((error: unknown) => {
      server = undefined
      throw error
    })
    return server
  }

  async function transact<T>(work: (transaction: SQL) => Promise<T>): Promise<T> {
    const { sql, isPooled } = await find()
    const { result } = await sql.begin(`isolation level ${ISOLATION}`, async (transaction) => {
      if (isPooled) await transaction.unsafe(settings.join('; '))
      // `begin` treats an array as a list of queries, so the result is in an object.
      return { result: await work(transaction) }
    })
    return result
  }

  return {
    transact,
    isPooled: async () => (await find()).isPooled,
    async run(work) {
      const { sql, isPooled } = await find()
      return isPooled ? await transact(work) : await work(sql)
    },
    async close(timeout) {
      closing.abort()
      const found = await server?.catch(() => undefined)
      if (found) await closeClient(found.sql, timeout)
    },
  }
}

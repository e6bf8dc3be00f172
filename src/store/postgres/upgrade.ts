/** How a service migrates an older list: once at a time, on a connection of its own, and for as long as it takes. */

import { setTimeout as sleep } from 'node:timers/promises'
import { toListName } from '../../config/list-url.ts'
import type { PostgresServer } from '../../config/postgres-url.ts'
import { Failure } from '../../failure.ts'
import { createTrouble, type Log } from '../../log.ts'
import type { MigratingError } from '../../subscriber.ts'
import { toMigratingError, toMigrationBegin, toMigrationEnd } from '../version.ts'
import { close, connect } from './client.ts'
import { toServerError } from './error.ts'
import { migrate, SCHEMA_VERSION } from './schema.ts'

export interface Upgrade {
  /**
   * @throws MigratingError while a migration runs, because the calls of the service must not wait for its locks, and until one that failed
   * may be started again
   */
  refuse(): void
  /** Starts to migrate a list of a version, unless a migration runs. Returns the error of the calls meanwhile. */
  start(version: number): MigratingError
  /** Ends the connection. The server takes back what is not complete. */
  close(): Promise<void>
}

/** Milliseconds until a migration that failed may be started again. */
const RETRY_MS = 10_000

/** Creates the upgrade of a service, which does nothing before it is started. */
export function createUpgrade(server: PostgresServer, log: Log): Upgrade {
  const trouble = createTrouble(log, {
    begin: 'the migration of the list failed: requests get 500 until the next attempt succeeds',
    end: 'the list can be migrated again',
  })
  const stopping = new AbortController()
  /** What `refuse` throws. */
  let reason: MigratingError | undefined
  let running: Promise<void> | undefined

  async function run(version: number): Promise<void> {
    const versions = { found: version, known: SCHEMA_VERSION }
    log.info(toMigrationBegin(versions))
    const sql = connect(server, 1, 0)
    const end = () => void close(sql)
    stopping.signal.addEventListener('abort', end)
    try {
      await migrate(sql)
      trouble.end()
      log.info(toMigrationEnd(versions))
    } catch (error) {
      if (stopping.signal.aborted) return
      trouble.add(error instanceof Failure ? error : toServerError(toListName({ kind: 'postgres', server }), error))
      await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    } finally {
      stopping.signal.removeEventListener('abort', end)
      await close(sql)
      reason = undefined
    }
  }

  return {
    refuse() {
      if (reason) throw reason
    },
    start(version) {
      if (!reason) {
        reason = toMigratingError({ found: version, known: SCHEMA_VERSION })
        running = run(version)
      }
      return reason
    },
    async close() {
      stopping.abort()
      await running
    },
  }
}

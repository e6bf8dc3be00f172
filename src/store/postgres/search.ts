/**
 * Finds the server among the hosts of a URL, such as the primary after a failover. `target_session_attrs` says which kind is
 * wanted, as in libpq (https://www.postgresql.org/docs/current/libpq-connect.html).
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { SQL } from 'bun'
import type { ConnectionParameters, PostgresHost } from '../../config/connection-parameters.ts'
import { StoreError } from '../../subscriber.ts'
import { toHostText } from '../list-name.ts'
import { type ClientOptions, closeClient, createClient } from './client.ts'
import { toCode, toReason } from './error.ts'

/** A server that was found, and whether a pooler is in front of it. */
export interface Server {
  readonly sql: SQL
  readonly isPooled: boolean
}

/** Milliseconds after which the next host is tried, while the ones before it have not answered. */
const HEAD_START_MS = 500

/**
 * A commit that waits for a missing standby keeps its server process after its connection has ended. From this number on,
 * no connection is made, so that a service does not take all connections of the server.
 */
const MAX_WAITING = 8

/** SQLSTATE protocol_violation. PgBouncer refuses settings of the session, among others, with this code. */
export const REFUSED_BY_POOLER = '08P01'

type Target = ConnectionParameters['targetSessionAttrs']

/**
 * Finds a server. The hosts are tried in the order of the URL. The next one is tried when one fails, or after 0.5 s, so that a
 * host that hangs does not use up the deadline. The first one that fits is used.
 *
 * @param signal gives up the search
 * @throws StoreError with the reason for each host. With one host: its error
 */
export async function findServer(options: ClientOptions, signal: AbortSignal): Promise<Server> {
  const { targetSessionAttrs: target } = options.parameters
  if (target !== 'prefer-standby') return await search(options, { target, signal })
  return await search(options, { target: 'standby', signal }).catch(() => search(options, { target: 'any', signal }))
}

async function search(
  options: ClientOptions,
  { target, signal }: { target: Target; signal: AbortSignal },
): Promise<Server> {
  const { hosts } = options.parameters
  const found = Promise.withResolvers<Server>()
  const over = new AbortController()
  const errors: unknown[] = []
  const attempts: Promise<void>[] = []
  for (const [index, host] of hosts.entries()) {
    const attempt = tryHost(options, { host, target, signal: AbortSignal.any([signal, over.signal]) }).then(
      (server) => {
        over.abort()
        found.resolve(server)
      },
      (error: unknown) => {
        errors[index] = error
      },
    )
    attempts.push(attempt)
    const isLast = index === hosts.length - 1
    if (!isLast) await Promise.race([attempt, found.promise, sleep(HEAD_START_MS, undefined, { ref: false })])
    if (over.signal.aborted) break
  }
  void Promise.all(attempts).then(() => found.reject(hosts.length > 1 ? toSearchError(hosts, errors) : errors[0]))
  return await found.promise
}

function toSearchError(hosts: readonly PostgresHost[], errors: readonly unknown[]): StoreError {
  const reasons = hosts.map((host, index) => {
    const error = errors[index]
    return `${toHostText(host)}: ${error instanceof StoreError ? error.message : toReason(error)}`
  })
  return new StoreError(`no host can be used (${reasons.join('; ')})`)
}

interface Candidate {
  readonly host: PostgresHost
  readonly target: Target
  readonly signal: AbortSignal
}

/** @throws StoreError when the server does not fit, and errors of Bun's client */
async function tryHost(options: ClientOptions, candidate: Candidate): Promise<Server> {
  try {
    const server = await tryClient(options, 'direct', candidate)
    if (!server.isPooled) return server
    void closeClient(server.sql)
  } catch (error) {
    if (toCode(error) !== REFUSED_BY_POOLER) throw error
  }
  return await tryClient(options, 'pooled', candidate)
}

async function tryClient(
  options: ClientOptions,
  kind: 'direct' | 'pooled',
  { host, target, signal }: Candidate,
): Promise<Server> {
  signal.throwIfAborted()
  const sql = createClient(options, host, kind)
  const giveUp = () => void closeClient(sql)
  signal.addEventListener('abort', giveUp)
  try {
    const state = await readState(sql)
    const mismatch = findMismatch(state, target)
    if (mismatch) throw new StoreError(`${mismatch}, and target_session_attrs is ${target}`)
    if (state.waiting >= MAX_WAITING) {
      throw new StoreError(`its synchronous standby does not answer, and ${state.waiting} commits wait for it`)
    }
    signal.throwIfAborted()
    return { sql, isPooled: kind === 'pooled' || !state.hasSettings }
  } catch (error) {
    giveUp()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

interface ServerState {
  /** Whether the settings of the session have arrived at the server. A pooler refuses or ignores them. */
  readonly hasSettings: boolean
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  /** Commits of this user that have waited for a synchronous standby for more than 5 s. */
  readonly waiting: number
}

async function readState(sql: SQL): Promise<ServerState> {
  // Not a template: a pooler in transaction mode may not be able to prepare a statement.
  const [row] = await sql.unsafe<ServerState[]>(
    `SELECT source = 'client' AS "hasSettings", pg_is_in_recovery() AS "isStandby",
            current_setting('transaction_read_only')::boolean AS "isReadOnly",
            (SELECT count(*)::integer FROM pg_catalog.pg_stat_activity
             WHERE usename = current_user AND wait_event = 'SyncRep'
               AND query_start < clock_timestamp() - interval '5 s') AS waiting
     FROM pg_catalog.pg_settings WHERE name = 'lock_timeout'`,
  )
  return row ?? { hasSettings: false, isStandby: false, isReadOnly: false, waiting: 0 }
}

/** Says what is wrong with a server for a target. A standby is read-only too. */
function findMismatch({ isStandby, isReadOnly }: ServerState, target: Target): string | undefined {
  if (isReadOnly && target === 'read-write') return isStandby ? 'it is a standby' : 'it is read-only'
  if (!isReadOnly && target === 'read-only') return 'it is not read-only'
  if (isStandby && target === 'primary') return 'it is a standby'
  if (!isStandby && target === 'standby') return 'it is the primary'
  return undefined
}

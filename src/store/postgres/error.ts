/** Explains errors of PostgreSQL and of Bun's client to the owner. */

import { SQL } from 'bun'
import { toErrorCode } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'

/** Expects that a statement wrote so many rows: a trigger can skip some without an error. @throws StoreError */
export function expectCount({ count }: { readonly count: number }, expected: number, table: string): void {
  if (count === expected) return
  throw new StoreError(`the table rollcall.${table} does not take what is written: look at its triggers`)
}

/**
 * Names the list, the reason and the SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or the code of the
 * runtime in one line. The message of an error is not shown, but for that of a missing privilege: PostgreSQL quotes rows in some, and the
 * client may quote the URL.
 */
export function toServerError(name: string, error: unknown): StoreError {
  const code = toCode(error)
  if (code !== '') return new StoreError(`the list ${name} cannot be used: ${toReason(error, code)} (${code})`)
  // Of neither the server nor the client: a defect of ours. The log shows where, and a command with LOG_LEVEL=debug.
  const kind = error instanceof Error ? error.name : typeof error
  return new StoreError(`the list ${name} cannot be used: an error of Rollcall itself (${kind})`, { cause: error })
}

function toReason(error: unknown, code: string): string {
  // The message of a privilege that is missing names no row, and it names the table.
  if (code === '42501' && error instanceof Error) return error.message
  const known = REASONS.find(([pattern]) => pattern.test(code))
  return known?.[1] ?? 'PostgreSQL reports an error'
}

/** The reason and the advice for a server that can neither accept nor compact. */
export const READ_ONLY = 'the database is read-only, such as a standby: use the primary'

/** The codes of a connection that was lost. */
const CLOSED = /CONNECTION_CLOSED|^(?:08|57P0[1235])/

const REASONS = [
  [/CONNECTION_REFUSED/, 'the server cannot be reached'],
  [/CONNECTION_TIMEOUT/, 'the server does not answer'],
  [/^08P01$/, 'the pooler has no connection to the server, or is not in session or transaction mode'],
  [CLOSED, 'the connection was lost'],
  [/^23514$/, 'its commits are not durable: turn on synchronous_commit and fsync'],
  [/^28/, 'the server refuses the user or the password'],
  [/^3D/, 'the server has no such database'],
  [/^(?:3F000|42(?:P01|703|704|710|883))$/, 'its schema has changed'],
  [/^25006$/, READ_ONLY],
  [/^25P0[34]$/, 'the command stood still in a transaction, which the server has ended: run it again'],
  [/^53100$/, 'the disk is full'],
  [/^53300$/, 'the server has no connection left'],
  [
    /^55000$/,
    'a publication needs a primary key for each table: restore the one that was dropped, or correct the publication',
  ],
  [/^57014$/, 'the server takes too long'],
  [/^55P03$/, 'another process holds its lock'],
  [/TLS_NOT_AVAILABLE/, 'the server does not support TLS'],
  [/CERT|TLS|SSL|SIGNATURE|ISSUER/, 'the certificate of the server is not trusted'],
] as const

/** Returns the SQLSTATE, or the code of the runtime; empty for an error without one. */
function toCode(error: unknown): string {
  if (error instanceof SQL.PostgresError && error.errno) return String(error.errno)
  return toErrorCode(error)
}

/** Whether a connection was lost that had worked. What was sent on it may be done. */
export function isClosed(error: unknown): boolean {
  return CLOSED.test(toCode(error))
}

/** Whether the connections must be replaced after an error: they were lost, or the server may be a standby now. */
export function isLost(error: unknown): boolean {
  return isClosed(error) || /CONNECTION_|^25006$/.test(toCode(error))
}

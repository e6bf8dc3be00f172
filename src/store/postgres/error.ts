/** Explains errors of PostgreSQL and of Bun's client to the owner. */

import { SQL } from 'bun'
import { toErrorCode } from '../../failure.ts'

/**
 * Turns an error into one line without values, addresses or passwords. It ends with the SQLSTATE
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html) or the code of the runtime.
 */
export function toReason(error: unknown): string {
  const code = toCode(error)
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'PostgreSQL reports an error'
  return `${reason} (${code})`
}

/** SQLSTATE */
export const INSUFFICIENT_PRIVILEGE = '42501'

// The message of an error is never shown: PostgreSQL quotes rows in it, and the client may quote the URL.
const REASONS = [
  [/CONNECTION_REFUSED/, 'the server cannot be reached'],
  [/CONNECTION_TIMEOUT/, 'the server does not answer'],
  [/^08P01$/, 'the pooler has no connection to the server, or is not in session or transaction mode'],
  [/CONNECTION_CLOSED|^(?:08|57P0[1235])/, 'the connection was lost'],
  [/^28/, 'the server refuses the user or the password'],
  [/^3D/, 'the server has no such database'],
  [/^42501$/, 'the user lacks a permission'],
  [/^42(?:P01|703|883)$/, 'its schema has changed'],
  [/^25006$/, 'the database is read-only'],
  [/^53100$/, 'the disk is full'],
  [/^53300$/, 'the server has no connection left'],
  [/^53/, 'the server lacks resources'],
  [/^57014$/, 'the server takes too long'],
  [/^55P03$/, 'another process holds its lock'],
  // Bun's client compares it with the known modes also when the URL has another one.
  [/^ERR_INVALID_ARG/, 'PGSSLMODE or PG_SSLMODE is not valid'],
  [/TLS_NOT_AVAILABLE/, 'the server does not support TLS'],
  [/CERT|TLS|SSL|SIGNATURE|ISSUER/, 'the certificate of the server is not trusted'],
] as const

/** Returns the SQLSTATE, the code of the runtime, or the name of an error. */
export function toCode(error: unknown): string {
  if (error instanceof SQL.PostgresError && error.errno) return String(error.errno)
  return toErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown')
}

/**
 * Whether the connections must be replaced after an error: they were lost, the server is read-only now, or there is a pooler
 * now. Then the server is searched again.
 */
export function isLost(error: unknown): boolean {
  return LOST.test(toCode(error))
}

// Of the runtime, and SQLSTATE: connection exceptions, shutdowns, read_only_sql_transaction, and with a pooler
// invalid_sql_statement_name and duplicate_prepared_statement
const LOST = /CONNECTION_|^(?:08|57P0[1235]|25006$|26000$|42P05$)/

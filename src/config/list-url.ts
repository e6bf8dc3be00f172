import { UsageError } from '../failure.ts'
import { type ConnectionParameters, parseConnectionParameters } from './connection-parameters.ts'
import type { Environment } from './environment.ts'

/** The location of a list: the kind of store, and its file or URL. */
export type ListUrl =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly parameters: ConnectionParameters }

/**
 * Reads DATABASE_URL only, for commands that need no other setting and start faster without them.
 *
 * @throws UsageError if no store supports the URL
 */
export function readListUrl(environment: Environment = process.env): ListUrl {
  return parseListUrl('DATABASE_URL', environment.DATABASE_URL || 'sqlite:data/rollcall.db', environment)
}

/**
 * Parses the URL of a list. `sqlite:` and `file:` have a path, relative to the working folder or absolute, with or
 * without `//`. The variables of libpq, such as PGUSER, stand in for parts that a PostgreSQL URL does not have.
 *
 * @param name the name of the value, for the error
 * @throws UsageError, without any part that may be a password
 */
export function parseListUrl(name: string, value: string, environment: Environment = process.env): ListUrl {
  const file = decodePath(/^(?:sqlite|file):(?:\/\/)?([^?#]*)$/.exec(value)?.[1] ?? '')
  if (isFileName(file)) return Object.freeze({ kind: 'sqlite', file })
  const parameters = parseConnectionParameters(name, value, environment)
  if (parameters) return Object.freeze({ kind: 'postgres', parameters })
  throw new UsageError(
    `${name} is ${redactUrl(value)}: use sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE`,
  )
}

/** Whether the path is a file on disk for SQLite. A leading `:` or `file:` has another meaning. */
function isFileName(path: string): boolean {
  return path !== '' && !/^(?::|file:)|\/$|\p{Cc}/u.test(path)
}

/** Removes everything that may be a password from a URL. */
function redactUrl(value: string): string {
  if (/^(?:sqlite|file):|^[^:@?=]*(?::\/[^:@?=]*)?$/.test(value)) return `"${value}"`
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/)/i.exec(value)?.[0]
  return scheme
    ? `"${scheme}…" (the rest is not shown: it may contain a password)`
    : 'not a known kind of URL (not shown: it may contain a password)'
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

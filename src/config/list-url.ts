/** The URL of a list: a SQLite file or a PostgreSQL database. */

import { resolve } from 'node:path'
import { UsageError } from '../failure.ts'
import { type Environment, readEnvironment, readSettingFile } from './environment.ts'
import { POSTGRES_PORT, type PostgresServer, parsePostgresUrl } from './postgres-url.ts'

/** The location of a list: the kind of store, and its file or URL. */
export type ListUrl =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly server: PostgresServer }

/** Reads DATABASE_URL, or the file that DATABASE_URL_FILE names. @throws UsageError if no store supports the URL */
export function readListUrl(environment: Environment = readEnvironment()): ListUrl {
  const { DATABASE_URL: url, DATABASE_URL_FILE: file } = environment
  if (url && file) throw new UsageError('DATABASE_URL and DATABASE_URL_FILE are both set: use one of them')
  if (file) return readListFile('DATABASE_URL_FILE', file)
  return parseListUrl('DATABASE_URL', url || 'sqlite:data/rollcall.db')
}

/** Reads the URL of a list from a file. @param name what names the file, for the error. @throws UsageError */
export function readListFile(name: string, file: string): ListUrl {
  const advice = 'use a file that has the URL of the list'
  return readSettingFile(name, file, advice, (bytes) => parseListUrl(`the URL in ${name}`, bytes.toString().trim()))
}

/**
 * Parses the URL of a list. `sqlite:` and `file:` have a path, relative to the working folder or absolute, with or
 * without `//`. It has no `?`, `#` and `%`, with which a URL would mean something else.
 *
 * @param name the name of the value, for the error
 * @throws UsageError, without any part that may be a password
 */
export function parseListUrl(name: string, value: string): ListUrl {
  const file = /^(?:sqlite|file):(?:\/\/)?([^?#%]*)$/.exec(value)?.[1]
  if (file && isFileName(file)) return { kind: 'sqlite', file }
  const server = parsePostgresUrl(name, value)
  if (server) return { kind: 'postgres', server }
  const advice = 'use sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE'
  throw new UsageError(`${name} is wrong (not shown: it may contain a password): ${advice}`)
}

/** Names a list for the owner, without the user and the password in its URL. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { host, port, database } = list.server
  // The host is an IPv6 address, a name, or the folder of a socket.
  const name = host.includes(':') ? `[${host}]` : host.replaceAll('/', '%2F')
  const portPart = port === POSTGRES_PORT ? '' : `:${port}`
  return `postgres://${name}${portPart}/${database}`
}

/** Names a list with an absolute path, for a process in another working folder. */
export function toAbsoluteName(list: ListUrl): string {
  return toListName(list.kind === 'sqlite' ? { ...list, file: resolve(list.file) } : list)
}

/**
 * Whether SQLite reads the path as a file on disk. A leading `:` or `file:` has another meaning. A blank at an end, a slash at the end, a
 * control character, a URL, and U+FFFD, which stands for bytes that are not UTF-8, are mistakes.
 */
function isFileName(path: string): boolean {
  return !/^(?:\s|:|file:)|[\s/]$|:\/\/|\p{Cc}|\ufffd/u.test(path)
}

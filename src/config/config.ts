/** The settings: the environment and the site file, read once into one frozen object. Nothing else reads the environment. */

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseSite, type Site, SiteFileError } from './site-file.ts'

/** Everything that can be set, checked. */
export interface Config {
  /** The port of the public listener; 0 takes any that is free. */
  readonly port: number
  /** The address that the public listener binds. */
  readonly host: string
  /** The origin under which the site is known, without a trailing slash. */
  readonly baseUrl: string
  /** Where the list is kept. */
  readonly list: ListUrl
  readonly site: Site
  /** Origins whose pages may call the endpoint: `*` for all; empty for none. */
  readonly corsOrigins: readonly string[]
  /** The operations listener, where one is wanted. */
  readonly ops: { readonly port: number; readonly host: string } | undefined
  readonly logLevel: LogLevel
}

/** Where a list is kept. */
export type ListUrl =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A setting that is wrong: one line that names the variable or the file's line, the value, and what is accepted. */
export class ConfigError extends Error {
  constructor(message: string) {
    // A value may hold anything; what is told of it is one line, and moves no cursor.
    super(message.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, toEscape))
  }
}

/** The environment, as a map of strings. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads all settings.
 *
 * @throws ConfigError at the first wrong value; nothing has been created then
 */
export function readConfig(environment: Environment = process.env): Config {
  const port = toPort('PORT', environment.PORT || '3000')
  return Object.freeze({
    port,
    host: toHost('HOST', environment.HOST || '0.0.0.0'),
    baseUrl: toBaseUrl(environment.BASE_URL, port),
    list: readListUrl(environment),
    site: readSite(environment.SITE_FILE),
    corsOrigins: Object.freeze(toOrigins(environment.CORS_ORIGINS ?? '')),
    ops: readOps(environment, port),
    logLevel: toLogLevel(environment.LOG_LEVEL || 'info'),
  })
}

/**
 * Reads where the list is kept, for a command that needs no other setting.
 *
 * @throws ConfigError when DATABASE_URL is none that a store exists for
 */
export function readListUrl(environment: Environment = process.env): ListUrl {
  return toListUrl('DATABASE_URL', environment.DATABASE_URL || 'sqlite:data/rollcall.db')
}

/**
 * Reads the URL of a list. `sqlite:` and `file:` take a path, relative to the working folder or absolute,
 * with or without `//` in front; `postgres:` and `postgresql:` are handed on as they are.
 *
 * @param name what the error calls the value
 * @throws ConfigError; the value is not repeated where it may hold a password
 */
export function toListUrl(name: string, value: string): ListUrl {
  const file = decodePath(/^(?:sqlite|file):(?:\/\/)?([^?#]*)$/.exec(value)?.[1] ?? '')
  if (isFileName(file)) return Object.freeze({ kind: 'sqlite', file })
  if (/^postgres(?:ql)?:\/\/[^/]/.test(value) && URL.canParse(value)) {
    return Object.freeze({ kind: 'postgres', url: value })
  }
  throw new ConfigError(
    `${name} is ${toShown(value)}: use sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE`,
  )
}

function readOps(environment: Environment, publicPort: number): Config['ops'] {
  const host = toHost('OPS_HOST', environment.OPS_HOST || '127.0.0.1')
  if (!environment.OPS_PORT) return undefined
  const port = toPort('OPS_PORT', environment.OPS_PORT)
  if (port === publicPort && port !== 0) {
    throw new ConfigError(`OPS_PORT is "${port}": use another port than PORT, which is public`)
  }
  return Object.freeze({ port, host })
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

function readSite(named: string | undefined): Site {
  const file = named || 'site.yaml'
  if (!named && !existsSync(file)) return parseSite('', file)
  try {
    return parseSite(UTF_8.decode(readFileSync(file)), file)
  } catch (error) {
    if (error instanceof SiteFileError) throw new ConfigError(error.message)
    throw new ConfigError(`SITE_FILE is "${file}": ${toReason(error)}; give a YAML file that can be read`)
  }
}

function toPort(name: string, value: string): number {
  const port = /^[0-9]{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (port <= 65_535) return port
  throw new ConfigError(`${name} is "${value}": use a port number from 0 to 65535`)
}

function toHost(name: string, value: string): string {
  if (isIP(value) || isHostName(value)) return value
  throw new ConfigError(
    `${name} is "${value}": use an IP address such as 127.0.0.1 or ::, or a host name such as localhost`,
  )
}

function toBaseUrl(value: string | undefined, port: number): string {
  if (!value && port === 0) throw new ConfigError('BASE_URL is missing: it must be given when PORT is 0')
  if (!value) return new URL(`http://localhost:${port}`).origin
  if (isOrigin(value)) return value
  throw new ConfigError(`BASE_URL is "${value}": use ${AN_ORIGIN}`)
}

function toOrigins(value: string): string[] {
  const origins = value
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean)
  for (const origin of origins) {
    if (origin !== '*' && !isOrigin(origin)) {
      throw new ConfigError(
        `CORS_ORIGINS holds "${origin}": use * or a comma-separated list; each part is ${AN_ORIGIN}`,
      )
    }
  }
  return origins.includes('*') ? ['*'] : [...new Set(origins)]
}

const AN_ORIGIN =
  'an origin such as https://www.example.org, lower case (IDN as xn--), without user, default port, path or trailing slash'

/** Whether a text is an http or https origin as browsers write it (RFC 6454 section 6.2). */
function isOrigin(text: string): boolean {
  // The URL parser takes hosts such as `*.example.org` and `a"b`, which no browser is ever at.
  const isPlain = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::[0-9]+)?$/.test(text)
  return isPlain && URL.canParse(text) && new URL(text).origin === text
}

/** Whether a text is a host name of LDH labels (RFC 1123 section 2.1); one that ends in digits is a mistyped IP address. */
function isHostName(text: string): boolean {
  const isLabel = (label: string) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)
  return text.length <= 253 && text.split('.').every(isLabel) && !/(?:^|\.)[0-9]+$/.test(text)
}

/** Whether SQLite keeps a list on disk under this name; it takes a colon or `file:` in front for something else. */
function isFileName(path: string): boolean {
  return path !== '' && !/^(?::|file:)|\/$|\p{Cc}/u.test(path)
}

function toLogLevel(value: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === value)
  if (level) return level
  throw new ConfigError(`LOG_LEVEL is "${value}": use one of ${LOG_LEVELS.join(', ')}`)
}

/** What an error may show of the URL of a list: none of it that may be a password. */
function toShown(value: string): string {
  if (/^(?:sqlite|file):|^[^:@?=]*(?::\/[^:@?=]*)?$/.test(value)) return `"${value}"`
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/)/i.exec(value)?.[0]
  return scheme
    ? `"${scheme}…" (the rest is not shown: it may hold a password)`
    : 'not one that is understood (not shown: it may hold a password)'
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function toReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'it may not be read'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8'
  return 'it cannot be read'
}

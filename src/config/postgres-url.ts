/**
 * The URL of a PostgreSQL list. Its parameters have names and values of libpq, but other defaults
 * (https://www.postgresql.org/docs/current/libpq-connect.html). No variable of libpq, such as PGHOST, adds to it.
 */

import { X509Certificate } from 'node:crypto'
import { UsageError } from '../failure.ts'
import { type Environment, parseChoice, parsePort, readSettingFile } from './environment.ts'

/** How to connect to a PostgreSQL list. */
export interface PostgresServer {
  /** A name, an IP address without brackets, or the folder of a Unix socket. TLS compares the certificate with it. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** Empty when there is none. */
  readonly password: string
  readonly database: string
  readonly sslMode: (typeof SSL_MODES)[number]
  /** Trusted certificates as the text of a PEM file; undefined: those of the runtime. */
  readonly ca: string | undefined
  readonly channelBinding: (typeof CHANNEL_BINDINGS)[number]
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const
const PARAMETERS: readonly string[] = ['sslmode', 'sslrootcert', 'channel_binding']

/** The port of PostgreSQL, which the name of a list leaves out. */
export const POSTGRES_PORT = 5432

/** A raw `@`, `/`, `?` or `#` must not move a piece of the password to another part. */
const URL_PARTS = new RegExp(
  [
    '^postgres(?:ql)?://',
    '(?<user>[^:@/?#]+)(?::(?<password>[^/?#]*))?@',
    // An IPv6 address is in brackets. A comma would separate several hosts.
    '(?:\\[(?<ip>[0-9a-fA-F:.]+)\\]|(?<host>[^@/?#:[\\],]+))',
    '(?::(?<port>[0-9]*))?',
    '/(?<database>[^@/?#]+)',
    '(?:\\?(?<query>[^@?#]*))?$',
  ].join(''),
)

/**
 * Parses a URL with `postgres:` or `postgresql:`, a user, one host and a database, and reads the certificate that it names.
 *
 * @returns undefined for another URL
 * @throws UsageError for an invalid part of the value `name`, without any part that may be a password
 */
export function parsePostgresUrl(name: string, url: string): PostgresServer | undefined {
  if (/[\p{Cc} ]/u.test(url)) return undefined
  const parts = URL_PARTS.exec(url)?.groups
  if (!parts) return undefined
  refuseVariables(process.env)
  const decode = (part: string) => decodePart(`${part} in ${name}`, parts[part] ?? '')
  const { sslmode, sslrootcert, channel_binding } = parseQuery(name, parts.query ?? '')
  const sslMode = toSslMode(parseChoice(`sslmode in ${name}`, sslmode, SSL_MODES), sslrootcert)
  // As with libpq, `system` stands for the certificates of the runtime, and a file is not read for `disable`.
  const file = sslMode === 'disable' || sslrootcert === 'system' ? undefined : sslrootcert
  return {
    host: parts.ip ?? decode('host'),
    port: parsePort(`port in ${name}`, parts.port || String(POSTGRES_PORT)),
    user: decode('user'),
    password: decode('password'),
    database: decode('database'),
    sslMode,
    ca: file ? readCertificate(`sslrootcert in ${name}`, file) : undefined,
    channelBinding: parseChoice(`channel_binding in ${name}`, channel_binding, CHANNEL_BINDINGS) ?? 'disable',
  }
}

/** Bun's client reads these three variables of the process beside the URL. It sends the first one, and fails for an unknown mode. */
function refuseVariables({ PGOPTIONS, PGSSLMODE, PG_SSLMODE }: Environment): void {
  if (PGOPTIONS) {
    throw new UsageError('PGOPTIONS is set, and the server would get it: unset it, or use ALTER ROLE … SET')
  }
  parseChoice('PGSSLMODE', PGSSLMODE, SSL_MODES)
  parseChoice('PG_SSLMODE', PG_SSLMODE, SSL_MODES)
}

function parseQuery(name: string, query: string): Readonly<Record<string, string | undefined>> {
  const parameters = new URLSearchParams(query)
  const unknown = parameters.keys().find((keyword) => !PARAMETERS.includes(keyword))
  if (unknown === undefined) return Object.fromEntries(parameters)
  throw new UsageError(
    `${name} has the parameter "${unknown}", which Rollcall does not have: use ${PARAMETERS.join(', ')}, or remove it`,
  )
}

/** @throws UsageError for an escape that is none, and for that of a zero byte, which no part may have */
function decodePart(source: string, value: string): string {
  const decoded = decodeEscapes(value)
  if (decoded === undefined) {
    throw new UsageError(`${source} has a % that does not begin an escape such as %40: write %25 instead`)
  }
  if (decoded.includes('\0')) {
    throw new UsageError(`${source} has %00, a zero byte, which PostgreSQL cannot have: remove it`)
  }
  return decoded
}

function decodeEscapes(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** With `sslrootcert`, every mode means `verify-full`, but `disable` and `verify-ca`. */
function toSslMode(mode: PostgresServer['sslMode'] | undefined, sslrootcert: string | undefined) {
  if (sslrootcert && mode !== 'disable' && mode !== 'verify-ca') return 'verify-full'
  return mode ?? 'disable'
}

function readCertificate(source: string, file: string): string {
  return readSettingFile(source, file, 'use a file with a certificate in PEM format', (pem) => {
    // Throws when it is none.
    new X509Certificate(pem)
    return pem.toString()
  })
}

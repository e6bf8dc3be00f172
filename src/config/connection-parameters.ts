/** How to connect to a PostgreSQL list, from the parts of its URL and the variables of libpq. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { toSystemReason, UsageError } from '../failure.ts'
import type { Environment } from './environment.ts'
import { type Part, type Parts, readParts } from './postgres-url.ts'

export interface PostgresHost {
  /** A name, an IP address without brackets, or the folder of a Unix socket. TLS compares the certificate with it. */
  readonly host: string
  readonly port: number
  /** The IP address to connect to, so that the name is not looked up. */
  readonly address: string | undefined
}

/** How to connect to a PostgreSQL list. Nothing else decides about the connection. */
export interface ConnectionParameters {
  readonly hosts: readonly PostgresHost[]
  readonly user: string
  /** Empty when there is none. */
  readonly password: string
  readonly database: string
  readonly sslMode: (typeof SSL_MODES)[number]
  /** The texts of the PEM files for TLS. Without `ca`, the certificates of the runtime are trusted. */
  readonly tls: Readonly<{ ca?: string; cert?: string; key?: string }>
  readonly channelBinding: (typeof CHANNEL_BINDINGS)[number]
  readonly applicationName: string
  /** Settings of the session, as the command line of `postgres` has them, such as `-c work_mem=8MB`. */
  readonly options: string | undefined
  /** Seconds. undefined: the deadline of Rollcall. */
  readonly connectTimeout: number | undefined
  readonly targetSessionAttrs: (typeof TARGETS)[number]
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const
const TARGETS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const

/**
 * Parses a URL with `postgres:` or `postgresql:`, and reads the certificates that it names.
 *
 * @param name the name of the value, for errors
 * @returns undefined when it is not such a URL
 * @throws UsageError for an invalid part, without any part that may be a password
 */
export function parseConnectionParameters(
  name: string,
  url: string,
  environment: Environment,
): ConnectionParameters | undefined {
  const parts = readParts(name, url, environment)
  if (!parts) return undefined
  const user = parts.user?.value ?? environment.USER
  if (!user) throw new UsageError(`${name} has no user: use postgres://USER:PASSWORD@HOST/DATABASE`)
  const sslMode = toSslMode(parts)
  return Object.freeze({
    hosts: Object.freeze(parseHosts(name, parts)),
    user,
    password: parts.password?.value ?? '',
    database: parts.dbname?.value ?? user,
    sslMode,
    tls: Object.freeze(sslMode === 'disable' ? {} : readTls(parts)),
    channelBinding: parseChoice(parts.channel_binding, CHANNEL_BINDINGS) ?? 'disable',
    applicationName: parts.application_name?.value ?? 'rollcall',
    options: parts.options?.value,
    connectTimeout: parseTimeout(parts.connect_timeout),
    targetSessionAttrs: parseChoice(parts.target_session_attrs, TARGETS) ?? 'any',
  })
}

function parseHosts(name: string, { host, hostaddr, port }: Parts): readonly PostgresHost[] {
  const names = host?.value.split(',')
  const addresses = hostaddr?.value.split(',')
  const ports = port?.value.split(',') ?? ['']
  const { length } = names ?? addresses ?? ['']
  if ((addresses && addresses.length !== length) || (ports.length > 1 && ports.length !== length)) {
    throw new UsageError(`${name} has ${length} hosts, but not as many addresses or ports`)
  }
  return Array.from({ length }, (_, index) => {
    const address = addresses?.[index] || undefined
    return Object.freeze({
      host: names?.[index] || address || 'localhost',
      port: parsePort((ports.length > 1 ? ports[index] : ports[0]) || '5432', port),
      address,
    })
  })
}

function parsePort(text: string, part: Part | undefined): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new UsageError(`${part?.source} is not a port number from 1 to 65535`)
}

function parseChoice<Choice extends string>(part: Part | undefined, choices: readonly Choice[]): Choice | undefined {
  if (!part) return undefined
  const choice = choices.find((known) => known === part.value)
  if (choice) return choice
  throw new UsageError(`${part.source} is not one of ${choices.join(', ')}`)
}

/** As in libpq, 0 and less mean that there is no limit of its own. */
function parseTimeout(part: Part | undefined): number | undefined {
  if (!part) return undefined
  if (!/^-?[0-9]{1,9}$/.test(part.value)) throw new UsageError(`${part.source} is not a number of seconds`)
  return Math.max(0, Number(part.value)) || undefined
}

/** Without `sslmode` there is no TLS, except that a certificate to compare with is always used. */
function toSslMode({ sslmode, sslrootcert }: Parts): ConnectionParameters['sslMode'] {
  const mode = parseChoice(sslmode, SSL_MODES) ?? (sslrootcert ? 'verify-full' : 'disable')
  return sslrootcert && mode !== 'disable' && mode !== 'verify-ca' ? 'verify-full' : mode
}

function readTls({ sslrootcert, sslcert, sslkey }: Parts): ConnectionParameters['tls'] {
  return {
    ...(sslrootcert && sslrootcert.value !== 'system' && { ca: readCertificate(sslrootcert) }),
    ...(sslcert && { cert: readCertificate(sslcert) }),
    ...(sslkey && { key: readPem(sslkey) }),
  }
}

function readCertificate(part: Part): string {
  const pem = readPem(part)
  try {
    new X509Certificate(pem)
    return pem
  } catch {
    throw new UsageError(`${part.source} is "${part.value}": the file has no certificate in PEM format`)
  }
}

function readPem({ value, source }: Part): string {
  try {
    return readFileSync(value, 'utf8')
  } catch (error) {
    throw new UsageError(`${source} is "${value}": ${toSystemReason(error) ?? 'it cannot be read'}`)
  }
}

/** The settings: reads the environment and the site file into one object. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../failure.ts'
import {
  type Environment,
  type Listener,
  parseChoice,
  readEnvironment,
  readListener,
  readOps,
  readSettingFile,
} from './environment.ts'
import { type ListUrl, readListUrl } from './list-url.ts'
import { createDefaultSite, isWebUrl, parseSite, type Site } from './site-file.ts'

/** All settings, validated. */
export interface Config {
  /** The port of the public listener. 0 takes any free port. */
  readonly port: number
  /** The IP address or host name that the public listener binds. */
  readonly host: string
  /** The public origin of the site, without a trailing slash. */
  readonly baseUrl: string
  readonly list: ListUrl
  readonly site: Site
  /** The site file: an absolute path, and SHA-256 in hexadecimal. Undefined when there is none, and `site` has the defaults. */
  readonly siteFile: { readonly path: string; readonly digest: string } | undefined
  /** Origins whose pages may call the endpoint: `*` for all, empty for none. */
  readonly corsOrigins: readonly string[]
  /** The operations listener, if it is on. */
  readonly ops: Listener | undefined
  readonly logLevel: (typeof LOG_LEVELS)[number]
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Reads all settings. Creates nothing. @throws UsageError for the first invalid value */
export function readConfig(environment: Environment = readEnvironment()): Config {
  const { port, host } = readListener(environment)
  const ops = readOps(environment)
  if (port !== 0 && ops?.port === port) {
    throw new UsageError(`OPS_PORT is "${port}": use a port other than PORT, which is public`)
  }
  return {
    port,
    host,
    baseUrl: parseBaseUrl(environment.BASE_URL || toDefaultUrl(port)),
    list: readListUrl(environment),
    ...readSite(environment),
    corsOrigins: parseOrigins(environment.CORS_ORIGINS ?? ''),
    ops,
    logLevel: parseChoice('LOG_LEVEL', environment.LOG_LEVEL, LOG_LEVELS) ?? 'info',
  }
}

/** Returns the origin on this machine; empty, which is no origin, when the port is not known before the start. */
function toDefaultUrl(port: number): string {
  // Without the default port, as in every origin.
  return port === 0 ? '' : new URL(`http://localhost:${port}`).origin
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** Reads the file that SITE_FILE names, or `site.yaml` beside the env file, or in the working folder. @throws UsageError */
export function readSite({ SITE_FILE, ENV_FILE } = readEnvironment()): Pick<Config, 'site' | 'siteFile'> {
  const defaults = ['site.yaml']
  if (ENV_FILE) defaults.unshift(join(dirname(ENV_FILE), 'site.yaml'))
  const file = SITE_FILE || defaults.find((path) => existsSync(path))
  if (!file) return { site: createDefaultSite(), siteFile: undefined }
  return readSettingFile('SITE_FILE', file, 'use a YAML file in UTF-8', (bytes) => {
    const digest = createHash('sha256').update(bytes).digest('hex')
    return { site: parseSite(UTF_8.decode(bytes), file), siteFile: { path: resolve(file), digest } }
  })
}

/** Parses the public origin of the site. @throws UsageError */
export function parseBaseUrl(value: string): string {
  if (isOrigin(value)) return value
  throw new UsageError(`BASE_URL is "${value}": use ${toOriginAdvice(toLikelyOrigin(value))}`)
}

/** Returns the origin that a person means who left out `https://`, or typed a slash at the end, a default port or capitals. */
export function toLikelyOrigin(text: string): string | undefined {
  const scheme = /^localhost\b/i.test(text) ? 'http' : 'https'
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `${scheme}://${text}`)
  return url && `${url.origin}/` === url.href && isOrigin(url.origin) ? url.origin : undefined
}

function parseOrigins(value: string): string[] {
  const origins = value
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean)
  const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
  if (wrong !== undefined) {
    throw new UsageError(
      `CORS_ORIGINS holds "${wrong}": use * or a comma-separated list; each part is ${toOriginAdvice()}`,
    )
  }
  return origins
}

function toOriginAdvice(example = 'https://www.example.org'): string {
  return `an origin such as ${example}: lower case (IDN as xn--), no user, default port, path or trailing slash`
}

/** Whether a text is an http or https origin in the form that browsers send (RFC 6454 section 6.2). */
function isOrigin(text: string): boolean {
  return isWebUrl(text) && new URL(text).origin === text
}

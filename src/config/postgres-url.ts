/**
 * The URL of a PostgreSQL list, with the names and the meaning of libpq:
 * https://www.postgresql.org/docs/current/libpq-connect.html. Each part in the URL wins over its variable. So no variable
 * of the machine can send addresses to another database than the one in the URL.
 */

import { UsageError } from '../failure.ts'
import type { Environment } from './environment.ts'

/** The parameters of the URL, and the variables that stand in for them. */
const VARIABLES = {
  host: 'PGHOST',
  hostaddr: 'PGHOSTADDR',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  channel_binding: 'PGCHANNELBINDING',
  application_name: 'PGAPPNAME',
  options: 'PGOPTIONS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
} as const

type Keyword = keyof typeof VARIABLES

/** A value, and where it is from, for an error. */
export interface Part {
  readonly value: string
  readonly source: string
}

export type Parts = Readonly<Partial<Record<Keyword, Part>>>

/**
 * Splits a URL with `postgres:` or `postgresql:`, and adds the variables for the parts that it does not have.
 *
 * @param name the name of the value, for errors
 * @returns undefined when it is not such a URL
 * @throws UsageError for a parameter that is not known, and an escape that is not valid
 */
export function readParts(name: string, url: string, environment: Environment): Parts | undefined {
  const given = splitUrl(name, url)
  return given && { ...readVariables(environment, given), ...given }
}

const URL_PARTS = new RegExp(
  // A raw `@`, `/`, `?` or `#` must not move a piece of the password to another part.
  [
    '^postgres(?:ql)?://',
    '(?:(?<user>[^:@/?#]*)(?::(?<password>[^/?#]*))?@)?',
    '(?<hosts>[^@/?#]*)(?:/(?<dbname>[^@/?#]*))?(?:\\?(?<query>[^@?#]*))?$',
  ].join(''),
)

/** Splits the URL. An empty part counts as missing. */
function splitUrl(name: string, url: string): Parts | undefined {
  const groups = /[\p{Cc} ]/u.test(url) ? undefined : URL_PARTS.exec(url)?.groups
  const servers = parseServers(groups?.hosts ?? '')
  if (!groups || !servers) return undefined
  const { user, password, dbname, query = '' } = groups
  const values = { user, password, dbname, ...servers, ...parseQuery(name, query) }
  const parts = Object.entries(values).map(([keyword, value = '']) => {
    const source = `${keyword} in ${name}`
    return [keyword, { value: decode(source, value), source }] as const
  })
  return Object.fromEntries(parts.filter(([, { value }]) => value !== ''))
}

/** Splits `HOST:PORT,HOST:PORT` into the lists that the parameters `host` and `port` have. */
function parseServers(hosts: string): { host: string; port: string } | undefined {
  const servers = hosts.split(',').map((server) => /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::([0-9]*))?$/i.exec(server))
  if (servers.includes(null)) return undefined
  const ports = servers.map((server) => server?.[3] ?? '')
  return {
    host: servers.map((server) => server?.[1] ?? server?.[2] ?? '').join(','),
    port: ports.some(Boolean) ? ports.join(',') : '',
  }
}

function parseQuery(name: string, query: string): Readonly<Record<string, string>> {
  const pairs = query.split('&').filter(Boolean)
  return Object.fromEntries(
    pairs.map((pair) => {
      // As in libpq, for URLs that were written for JDBC.
      const [keyword = '', ...value] = (pair === 'ssl=true' ? 'sslmode=require' : pair).split('=')
      if (Object.hasOwn(VARIABLES, keyword) && value.length > 0) return [keyword, value.join('=')]
      // A password with a raw `&` looks like another parameter.
      const shown = query.includes('password') ? 'a parameter' : `the parameter "${keyword}"`
      throw new UsageError(
        `${name} has ${shown} that Rollcall does not know: use ${Object.keys(VARIABLES).join(', ')}, or remove it`,
      )
    }),
  )
}

function decode(source: string, value: string): string {
  try {
    const decoded = decodeURIComponent(value)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new UsageError(`${source} has a % that does not begin an escape such as %40: write %25 instead`)
}

function readVariables(environment: Environment, given: Parts): Parts {
  const parts = Object.entries(VARIABLES).map(
    ([keyword, variable]) => [keyword, { value: environment[variable] ?? '', source: variable }] as const,
  )
  // PGHOSTADDR would send the connection elsewhere than to the host in the URL.
  const isUsed = (keyword: string) => keyword !== 'hostaddr' || !given.host
  return Object.fromEntries(parts.filter(([keyword, { value }]) => value !== '' && isUsed(keyword)))
}

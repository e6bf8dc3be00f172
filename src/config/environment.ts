/** The environment, the env file, and the settings that commands read without the rest of the configuration. */

import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseEnv } from 'node:util'
import { toErrorCode, toSystemReason, UsageError } from '../failure.ts'
import { isTypo } from '../likely-address.ts'

/** Environment variables. An empty value counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The file of a service that systemd runs. A command reads it too, so it uses the same list. */
export const DEFAULT_FILE = '/etc/rollcall/env'

/**
 * Reads the variables of the process, and those that it does not have from the file that ENV_FILE names. If there is
 * a file, ENV_FILE in the result names it.
 *
 * @param defaultFile is read when ENV_FILE names none. It may be missing
 * @throws UsageError when the file cannot be read, and as `parseEnvFile`: a command that goes on without the file could use another list
 */
export function readEnvironment(variables: Environment = process.env, defaultFile = DEFAULT_FILE): Environment {
  const name = variables.ENV_FILE
  const file = name || defaultFile
  // `/dev/null` means that there is no file.
  if (file === '/dev/null') return { ...variables, ENV_FILE: undefined }
  try {
    const lines = parseEnvFile(readFileSync(file), `ENV_FILE is "${file}"`)
    const set = Object.entries(variables).filter(([, value]) => value)
    return { ...lines, ...Object.fromEntries(set), ENV_FILE: file }
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (!name && /^(?:ENOENT|ENOTDIR)$/.test(toErrorCode(error))) return variables
    throw toReadError('ENV_FILE', file, error, 'use a file with lines NAME=value')
  }
}

/** The names of all settings. Others in an env file are for other programs. */
export const SETTINGS: readonly string[] = [
  'PORT',
  'HOST',
  'BASE_URL',
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'SITE_FILE',
  'CORS_ORIGINS',
  'OPS_PORT',
  'OPS_HOST',
  'LOG_LEVEL',
  'ENV_FILE',
]

/** A value in quotes, which may have a `#`, or one without quotes, which has none: `parseEnv` would cut it off there. */
const VALUE = /"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^#]*/

/** The parts of a line. The name is its only group. */
const NAME = String.raw`(?:export\s+)?([A-Za-z_]\w*)`
const SETTING = String.raw`${NAME}\s*=\s*(?:${VALUE.source})?`
const COMMENT = String.raw`(?<=^|\s)#.*`

/**
 * A line: blank, a comment, or a setting, which may have no value. A `#` begins a comment at the start or after white space only:
 * `PORT=3000#x` is no line, because systemd and Docker would read another value.
 */
const LINE = RegExp(String.raw`^\s*(?:${SETTING})?\s*(?:${COMMENT})?$`)

/**
 * Parses an env file: lines `NAME=value` in UTF-8, at least one, and without a name that is almost one of Rollcall's.
 *
 * @param source names the file, for errors
 * @throws UsageError with the number of the first wrong line, and without its value; and when it is not UTF-8, or sets nothing
 */
export function parseEnvFile(bytes: Uint8Array, source: string): NodeJS.Dict<string> {
  const text = decode(bytes)
  if (text === undefined) throw new UsageError(`${source}, which is not text in UTF-8: save it as UTF-8`)
  const names = text.split('\n').map((line, index) => {
    const place = `${source}, and line ${index + 1}`
    const found = LINE.exec(line)
    if (!found) {
      throw new UsageError(`${place} is not NAME=value: correct it, or put # before it; a value with a # needs quotes`)
    }
    const name = found[1]
    const meant = name && SETTINGS.find((setting) => isAlmost(name, setting))
    if (meant) throw new UsageError(`${place} has ${name}: use ${meant}`)
    return name
  })
  if (names.some(Boolean)) return parseEnv(text)
  throw new UsageError(`${source}, which has no line NAME=value: remove the # before a setting, or use another file`)
}

/** The text without a byte order mark; undefined when it is not UTF-8, or has controls but line breaks and tabs. */
function decode(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  return isUtf8(bytes) && !/(?![\t\n])\p{Cc}/u.test(text) ? text : undefined
}

/** Whether a name is a setting but for case, `_` and a typing error. */
function isAlmost(name: string, setting: string): boolean {
  const toLetters = (text: string) => text.toUpperCase().replaceAll('_', '')
  return !SETTINGS.includes(name) && isTypo(toLetters(name), toLetters(setting))
}

/** Reads the file that a setting names. @param advice what to use instead @throws UsageError when it cannot be read or parsed */
export function readSettingFile<T>(setting: string, file: string, advice: string, parse: (bytes: Buffer) => T): T {
  try {
    return parse(readFileSync(file))
  } catch (error) {
    throw error instanceof UsageError ? error : toReadError(setting, file, error, advice)
  }
}

function toReadError(setting: string, file: string, error: unknown, advice: string): UsageError {
  return new UsageError(`${setting} is "${file}": ${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`)
}

/** Where a server listens. */
export interface Listener {
  /** 0 takes any free port. */
  readonly port: number
  /** An IP address or a host name. */
  readonly host: string
}

/** Reads PORT and HOST. @throws UsageError */
export function readListener(environment: Environment = readEnvironment()): Listener {
  const port = parsePort('PORT', environment.PORT || '3000')
  return { port, host: parseHost('HOST', environment.HOST || '0.0.0.0') }
}

/** Reads OPS_PORT and OPS_HOST. @returns undefined when there is no operations listener @throws UsageError */
export function readOps(environment: Environment = readEnvironment()): Listener | undefined {
  const host = parseHost('OPS_HOST', environment.OPS_HOST || '127.0.0.1')
  return environment.OPS_PORT ? { port: parsePort('OPS_PORT', environment.OPS_PORT), host } : undefined
}

/** Parses a port number. @param name of the setting, for the error. @throws UsageError */
export function parsePort(name: string, value: string): number {
  if (/^[0-9]{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new UsageError(`${name} is "${value}": use a port number from 0 to 65535`)
}

/** Parses an IP address or a host name. @param name of the setting, for the error. @throws UsageError */
function parseHost(name: string, value: string): string {
  // A host name has LDH labels (RFC 1123 section 2.1). A last label of digits means a mistyped IP address.
  const isLabel = (label: string) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)
  const isName = value.length <= 253 && value.split('.').every(isLabel) && !/(?:^|\.)[0-9]+$/.test(value)
  if (isIP(value) || isName) return value
  throw new UsageError(
    `${name} is "${value}": use an IP address such as 127.0.0.1 or ::, or a host name such as localhost`,
  )
}

/** Parses one of these values. An empty one counts as missing. @throws UsageError without the value, which may be a password */
export function parseChoice<Choice extends string>(
  source: string,
  value = '',
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((known) => known === value)
  if (choice || value === '') return choice
  throw new UsageError(`${source} is not one of ${choices.join(', ')}`)
}

/** Whether a command shows where in the code an error comes from. */
export function isDebugging(): boolean {
  const { LOG_LEVEL } = process.env
  return LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace'
}

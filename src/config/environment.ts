/** The environment, and the settings that commands read without the rest of the configuration. */

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { toErrorCode, toSystemReason, UsageError } from '../failure.ts'
import { parseEnvFile } from './env-file.ts'

/** Environment variables. An empty value counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The file of a service that systemd runs. A command reads it too, so it uses the same list. */
export const DEFAULT_FILE = '/etc/rollcall/env'

/**
 * Reads the variables of the process, and those that it does not have from the file that ENV_FILE names. If a file was read,
 * ENV_FILE in the result names it.
 *
 * @throws UsageError when the file cannot be read, and as `parseEnvFile`: without it, a command could use another list
 */
export function readEnvironment(variables: Environment = process.env): Environment {
  const { ENV_FILE: name } = variables
  const file = name || DEFAULT_FILE
  try {
    const lines = parseEnvFile(readFileSync(file), `ENV_FILE is "${file}"`)
    const set = Object.entries(variables).filter(([, value]) => value)
    return { ...lines, ...Object.fromEntries(set), ENV_FILE: file }
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (!name && /^(?:ENOENT|ENOTDIR)$/.test(toErrorCode(error))) return variables
    throw toReadError('ENV_FILE', file, error, 'use a file with lines NAME=value, as the user of the service')
  }
}

/** Says why the file that a setting names cannot be read. @param advice what to use */
export function toReadError(setting: string, file: string, error: unknown, advice: string): UsageError {
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

/** Whether a command shows where in the code an unexpected error comes from. */
export function isDebugging({ LOG_LEVEL }: Environment = process.env): boolean {
  return LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace'
}

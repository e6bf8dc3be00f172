/** The ports and addresses that the service binds. */

import { isIP } from 'node:net'
import { UsageError } from '../failure.ts'
import { type Environment, readEnvironment } from './environment.ts'

export interface Listener {
  /** 0 takes any free port. */
  readonly port: number
  /** An IP address or a host name. */
  readonly host: string
}

/**
 * Reads OPS_PORT and OPS_HOST.
 *
 * @param publicPort must be another one
 * @returns undefined when there is no operations listener
 * @throws UsageError
 */
export function readOps(environment: Environment = readEnvironment(), publicPort?: number): Listener | undefined {
  const host = parseHost('OPS_HOST', environment.OPS_HOST || '127.0.0.1')
  if (!environment.OPS_PORT) return undefined
  const port = parsePort('OPS_PORT', environment.OPS_PORT)
  if (port === publicPort && port !== 0) {
    throw new UsageError(`OPS_PORT is "${port}": use another port than PORT, which is public`)
  }
  return Object.freeze({ port, host })
}

/** @param name of the setting, for the error. @throws UsageError */
export function parsePort(name: string, value: string): number {
  const port = /^[0-9]{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`${name} is "${value}": use a port number from 0 to 65535`)
}

/** @param name of the setting, for the error. @throws UsageError */
export function parseHost(name: string, value: string): string {
  if (isIP(value) || isHostName(value)) return value
  throw new UsageError(
    `${name} is "${value}": use an IP address such as 127.0.0.1 or ::, or a host name such as localhost`,
  )
}

/** Whether a text is a host name of LDH labels (RFC 1123 section 2.1). A last label of digits means a mistyped IP address. */
function isHostName(text: string): boolean {
  const isLabel = (label: string) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)
  return text.length <= 253 && text.split('.').every(isLabel) && !/(?:^|\.)[0-9]+$/.test(text)
}

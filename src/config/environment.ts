/** The environment: the variables of the process and, for those that it does not have, the lines of a file. */

import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { toSystemReason, UsageError } from '../failure.ts'

/** Environment variables. An empty value counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The file of a service that systemd runs. A command next to it reads the file too, and so works on the same list. */
const DEFAULT_FILE = '/etc/rollcall/env'

/**
 * Reads the environment. ENV_FILE names the file.
 *
 * @throws UsageError if there is a file that cannot be read: its settings are needed, such as that of the list
 */
export function readEnvironment(variables: Environment = process.env): Environment {
  const lines = readEnvFile(variables.ENV_FILE)
  if (lines === undefined) return variables
  const set = Object.entries(variables).filter(([, value]) => value)
  return { ...parseEnv(lines), ...Object.fromEntries(set) }
}

function readEnvFile(name: string | undefined): string | undefined {
  const file = name || DEFAULT_FILE
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (!name && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined
    const advice = code === 'EACCES' ? 'run the command as the user of the service' : 'use a file with lines NAME=value'
    throw new UsageError(`ENV_FILE is "${file}": ${toSystemReason(error) ?? 'it cannot be read'}; ${advice}`)
  }
}

import type { Environment } from './environment.ts'

/** Whether the terminal is known to have no control sequences. */
export function isDumbTerminal(environment: Environment = process.env): boolean {
  return environment.TERM === 'dumb'
}

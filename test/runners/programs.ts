/** What the runners need beyond `npm ci`. */

import { findProgram } from '../support/paths.ts'

/** Ends the process with exit code 1 if programs are missing. @param packages the Debian package of each program */
export function requirePrograms(packages: Readonly<Record<string, string>>): void {
  const missing = Object.keys(packages).filter((program) => findProgram(program) === null)
  if (missing.length === 0) return
  const names = missing.map((program) => `${program} (Debian package ${packages[program]})`)
  console.error(`not installed: ${names.join(', ')}`)
  process.exit(1)
}

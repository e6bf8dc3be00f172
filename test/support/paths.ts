/** Where things are: in the repository, and the programs that a check needs beyond `npm ci`. */

import { resolve } from 'node:path'

/** The root of the repository. */
export const ROOT = resolve(import.meta.dir, '../..')

/** The entry point of the command line. */
export const CLI = resolve(ROOT, 'src/cli.ts')

/** Resolves a file in `test/support/`. */
export const toSupportFile = (name: string) => resolve(import.meta.dir, name)

/** Debian installs servers in a folder that is not on the path of every user. */
export const PROGRAM_PATH = `${process.env.PATH}:/usr/sbin`

/** Returns the path of an installed program; null if there is none. */
export function findProgram(program: string): string | null {
  return Bun.which(program, { PATH: PROGRAM_PATH })
}

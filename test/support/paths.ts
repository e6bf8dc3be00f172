/** Where things are in the repository, so that a test may move without looking for them anew. */

import { resolve } from 'node:path'

/** The root of the repository. */
export const ROOT = resolve(import.meta.dir, '../..')

/** The entry point of the command line. */
export const CLI = resolve(ROOT, 'src/cli.ts')

/** Resolves a file in `test/support/`. */
export const toSupportFile = (name: string) => resolve(import.meta.dir, name)

/**
 * The table of deliberate breaks, from the files in breaks/. `npm test` checks that each text is found in the sources, and
 * `npm run test:mutants` that the tests notice each break.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { BREAK, type Break } from './break.ts'

const FOLDER = join(import.meta.dir, 'breaks')

/** All breaks, in the order of the files. */
export const BREAKS: readonly Break[] = readdirSync(FOLDER)
  .sort()
  .flatMap((name) => z.array(BREAK).parse(Bun.YAML.parse(readFileSync(join(FOLDER, name), 'utf8'))))

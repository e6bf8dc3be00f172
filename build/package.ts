/** What `npm pack` runs first: writes the program of the npm package to `dist/program/`. It prints nothing: npm may print JSON. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './bundle.ts'
import { readNotices } from './notices.ts'
import { ROOT, readOrigin } from './origin.ts'

const FOLDER = join(ROOT, 'dist/program')

rmSync(FOLDER, { recursive: true, force: true })
await bundleProgram(readOrigin().commit, {
  outdir: FOLDER,
  // The names that the sources use for the scripts of threads. All files are next to each other.
  naming: { entry: '[name].ts', asset: '[name].[ext]' },
  // Bytecode outside of an executable needs it.
  format: 'cjs',
  // Else it would be the folder of the source on the machine that builds.
  define: { 'import.meta.dir': 'module.path' },
})
// The licenses of what is inside.
writeFileSync(join(FOLDER, 'THIRD-PARTY-NOTICES'), readNotices())

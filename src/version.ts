/** Which Rollcall this is. */

import manifest from '../package.json' with { type: 'json' }

/** The commit that an executable was built from. build/executable.ts defines it. */
declare const COMMIT: string | undefined

/** That of package.json. */
export const VERSION: string = manifest.version

/** The commit that it was built from, if that is known. A published package has it in its package.json. */
export const BUILD: string | undefined = findBuild()

function findBuild(): string | undefined {
  if (typeof COMMIT === 'string') return COMMIT
  return 'gitHead' in manifest ? String(manifest.gitHead) : undefined
}

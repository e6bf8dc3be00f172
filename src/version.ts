/** Which Rollcall this is. */

import manifest from '../package.json' with { type: 'json' }

/** The commit that a build is made from. build/bundle.ts defines it. */
declare const COMMIT: string | undefined

/** That of package.json. */
export const VERSION: string = manifest.version

/** The commit that it was built from. Undefined in a checkout, where `git log` shows it. */
export const BUILD: string | undefined = typeof COMMIT === 'string' ? COMMIT : undefined

import manifest from '../../package.json' with { type: 'json' }
import { COMMIT } from './commit.ts'

/** What `rollcall --version` prints: the version, and the commit if it is known. */
export function toVersion(): string {
  return COMMIT === undefined ? manifest.version : `${manifest.version} (${COMMIT})`
}

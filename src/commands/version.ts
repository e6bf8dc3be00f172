import manifest from '../../package.json' with { type: 'json' }
import { COMMIT } from './commit.ts'
import type { Outputs } from './output-schemas.ts'

/**
 * What `rollcall --version` prints: the version, and the commit if it is known. The version of SQLite is that of the
 * runtime, which includes it.
 */
export function toVersion({ json }: { readonly json: boolean }): string {
  if (!json) return COMMIT === undefined ? manifest.version : `${manifest.version} (${COMMIT})`
  const { bun = '', sqlite = '' } = process.versions
  return JSON.stringify({
    rollcall: manifest.version,
    commit: COMMIT ?? null,
    bun,
    sqlite,
  } satisfies Outputs['version'])
}

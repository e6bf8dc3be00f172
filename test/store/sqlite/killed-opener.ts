/** Opens a list. Prints its statement number N and kills itself before it: `bun killed-opener.ts FILE N`. */

import { Database } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'

const [file = '', killAt = '0'] = process.argv.slice(2)
const run = Database.prototype.run
let statements = 0

Database.prototype.run = function (sql, ...bindings) {
  if (statements++ === Number(killAt)) {
    writeSync(1, sql)
    process.kill(process.pid, 'SIGKILL')
  }
  return run.call(this, sql, ...bindings)
}

await openSqliteStore(file).close()

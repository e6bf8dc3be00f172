/** Adds addresses to a list and kills itself, or closes the list: `bun killed-writer.ts FILE EMAIL… [--close]`. */

import type { Address } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

const [file = '', ...args] = process.argv.slice(2)
const store = openSqliteStore(file)
await store.add(args.filter((arg) => arg !== '--close') as Address[])
if (!args.includes('--close')) process.kill(process.pid, 'SIGKILL')
await store.close()

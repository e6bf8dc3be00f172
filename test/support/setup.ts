/** Around all tests of a process: no service outlives them, and no log of theirs holds an address. */

import { afterAll, setDefaultTimeout } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endServices, LOG_FOLDER } from './service.ts'

// For a file that is run by itself: Bun forgets it behind the first file, so `npm test` gives it as a flag.
setDefaultTimeout(60_000)

afterAll(() => {
  endServices()
  for (const name of existsSync(LOG_FOLDER) ? readdirSync(LOG_FOLDER) : []) {
    const line = readFileSync(join(LOG_FOLDER, name), 'utf8')
      .split('\n')
      .find((text) => text.includes('@'))
    if (line !== undefined) throw new Error(`the log ${name} may hold an address: ${line}`)
  }
  rmSync(LOG_FOLDER, { recursive: true, force: true })
})

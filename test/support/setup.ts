/** Runs after the tests of each file: ends the services that are left, and fails when a log holds an address. */

import { afterAll, setDefaultTimeout } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endServices, LOG_FOLDER, removeFolders } from './service.ts'

// Applies to a single file. Bun resets it after the first file, so `npm test` passes --timeout as well.
setDefaultTimeout(60_000)

afterAll(() => {
  endServices()
  removeFolders()
  for (const name of existsSync(LOG_FOLDER) ? readdirSync(LOG_FOLDER) : []) {
    const line = readFileSync(join(LOG_FOLDER, name), 'utf8')
      .split('\n')
      .find((text) => text.includes('@'))
    if (line !== undefined) throw new Error(`the log ${name} may hold an address: ${line}`)
  }
  rmSync(LOG_FOLDER, { recursive: true, force: true })
})

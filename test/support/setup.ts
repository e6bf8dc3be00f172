/** Runs after the tests of each file: ends the processes that are left, and fails when a log holds an address. */

import { afterAll, setDefaultTimeout } from 'bun:test'
import { endProcesses, removeFolders, removeLogs } from './workspace.ts'

// The env file of an installed package names another list. A test that reads one names its own.
process.env.ENV_FILE = '/dev/null'

// Applies to a single file. Bun resets it after the first file, so `npm test` passes --timeout as well.
setDefaultTimeout(60_000)

afterAll(() => {
  endProcesses()
  removeFolders()
  removeLogs()
})

/** Runs after the tests of each file: ends the processes that are left, and fails when a log holds an address. */

import { afterAll, setDefaultTimeout } from 'bun:test'
import { readFileSync } from 'node:fs'
import { endProcesses, removeFolders, removeLogs } from './workspace.ts'

// The env file of an installed package names another list. A test that reads one names its own.
process.env.ENV_FILE = '/dev/null'

// A single file has no option. Bun lets a default of a file that it preloads win over the option, in the first test file only.
const hasLimit = /\0--timeout[=\0]/.test(readFileSync('/proc/self/cmdline', 'utf8'))
if (!hasLimit) setDefaultTimeout(60_000)

afterAll(() => {
  endProcesses()
  removeFolders()
  removeLogs()
})

/** The helpers of the tests notice what they must: one that never fails would hide every fault. The check of responses is tried in test/documents. */

import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectOutput } from './support/output.ts'
import { until, within } from './support/wait.ts'
import { LOG_FOLDER, removeLogs } from './support/workspace.ts'

test('an output that differs from the block of a guide fails', () => {
  expectOutput('3 addresses\nall of them\n', '… addresses\n…\n')
  expect(() => expectOutput('3 addresses\n', '4 addresses\n')).toThrow()
  expect(() => expectOutput('3 addresses\n4\n', '3 addresses\n')).toThrow()
})

test('a wait in vain fails, and says for what it waited', async () => {
  await expect(until(() => false, 'nothing', 5)).rejects.toThrow('waited 0.005 s for: nothing')
  await expect(within(new Promise(() => {}), 'nothing', 5)).rejects.toThrow('waited 0.005 s for: nothing')
})

test('a log with an address fails', () => {
  mkdirSync(LOG_FOLDER, { recursive: true })
  const file = join(LOG_FOLDER, '1.log')
  writeFileSync(file, 'refused: ada@site.io\n')
  expect(removeLogs).toThrow('the log 1.log may hold an address: refused: ada@site.io')
  rmSync(file)
})

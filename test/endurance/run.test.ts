/** The command of the endurance suite, with the quickest trial. */

import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/paths.ts'

async function run(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const child = Bun.spawn([process.execPath, 'endurance/run.ts', ...args, '--out', folder], {
    cwd: ROOT,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr, read: (name: string) => readFileSync(join(folder, name), 'utf8') }
}

test('--help lists the trials with their promises and lengths', async () => {
  const { code, stdout } = await run('--help')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ {2}soak +sqlite 30, postgres 10\n +full load for 30 minutes/m)
})

test.each([
  [['--only', 'nothing']],
  [['--minutes', '0']],
  [['--seed', 'x']],
  [['--only', 'fuzz', '--store', 'postgres']],
])('wrong usage: %p', async (args) => {
  const { code, stderr } = await run(...args)
  expect([code, stderr !== '']).toEqual([2, true])
})

const COMPILER = Bun.which('cc')

test(`fsync: ${COMPILER ? 'each response is covered' : 'there is no C compiler, and a message says so'}`, async () => {
  const { code, stderr, read } = await run('--only', 'fsync', '--store', 'sqlite', '--minutes', '0.01', '--seed', '7')
  if (!COMPILER) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('a C compiler is missing')])
    return
  }
  expect([code, stderr]).toEqual([0, expect.stringContaining('fsync, sqlite: kept')])
  expect(JSON.parse(read('endurance.json'))).toMatchObject({
    outcomes: [
      { trial: 'fsync', store: 'sqlite', seed: 7, minutes: 0.01, figures: { 'responses that an fsync covers': 100 } },
    ],
  })
  expect(read('endurance.md')).toContain('| fsync | SQLite |')
})

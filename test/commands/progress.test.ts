/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { toProgressLine } from '../../src/commands/progress-line.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { holdLock } from '../support/list-file.ts'
import { startInTerminal, toScreen } from '../support/screen.ts'

/** A list, and a file with 25,000 addresses: three batches of an import. */
async function createPlace() {
  const fixture = await createCliFixture()
  const { folder, list, print, write } = fixture
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  await write('more.txt', Array.from({ length: 25_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  const start = (script: string, { columns = 80, env = {} } = {}) =>
    startInTerminal(script, { columns, folder, env: { DATABASE_URL: list, ...env } })
  /** Makes the next command that writes wait, so that it shows a bar. */
  const slowDown = () => holdLock(join(folder, 'list.db'), 2_500)
  return { ...fixture, start, slowDown }
}

test.each([
  [80, {}, /^importing [█░]+ \d+%, 10,000 rows, [\d,]+ rows\/s, \d+s left$/],
  [40, { NO_COLOR: '1' }, /^importing \d+%, [\d,]+(?: rows)?\/s, \d+s left$/],
])('an import shows its share, rate and time in %d columns, and clears the line', async (columns, env, line) => {
  const { start, slowDown } = await createPlace()
  await slowDown()
  const { lines, states, exit } = await start('rollcall import more.txt', { columns, env }).end()
  expect(exit).toBe(0)
  expect(states).toContainEqual(expect.stringMatching(line))
  expect(lines[0]).toBe('25000 new, 0 known, 0 suppressed, 0 reje'.slice(0, columns) + (columns > 40 ? 'cted' : ''))
  expect(lines.join('')).not.toContain('importing')
})

test('a dumb terminal gets no bar', async () => {
  const { start, slowDown } = await createPlace()
  await slowDown()
  const { states } = await start('rollcall import more.txt', { env: { TERM: 'dumb' } }).end()
  expect(states.filter((state) => state.includes('importing'))).toEqual([])
})

test('an import that is stopped leaves its note on the screen, and no bar', async () => {
  const { start, slowDown, write } = await createPlace()
  await write('many.txt', Array.from({ length: 150_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  await slowDown()
  const run = start('exec rollcall import many.txt', { columns: 100 })
  await run.shows('importing')
  run.type('\u0003')
  const { lines, exit } = await run.end()
  expect(exit).toBe(130)
  expect(lines.join('\n')).toContain('addresses were imported or suppressed before this')
  expect(lines.at(-1)).toBe('rollcall: stopped')
  expect(lines.join('\n')).not.toContain('importing')
})

describe('the line', () => {
  const rows = { verb: 'exporting', unit: 'rows', done: 1, total: 4, amount: 2_345_678, seconds: 60 } as const
  const bytes = { verb: 'copying', unit: 'bytes', done: 3e8, total: 4e8, amount: 3e8, seconds: 2 } as const

  test.each([
    [rows, 100, `exporting ${'█'.repeat(6)}${'░'.repeat(18)} 25%, 2,345,678 rows, 39,095 rows/s, 3m00s left`],
    [rows, 79, `exporting ${'█'.repeat(6)}${'░'.repeat(16)} 25%, 2,345,678 rows, 39,095 rows/s, 3m00s left`],
    [rows, 60, 'exporting 25%, 2,345,678 rows, 39,095 rows/s, 3m00s left'],
    [rows, 39, 'exporting 25%, 39,095/s, 3m00s left'],
    [rows, 10, '25%, 3m00s'],
    [{ ...rows, total: undefined }, 79, 'exporting 2,345,678 rows, 39,095 rows/s'],
    [{ ...rows, total: undefined }, 30, 'exporting 2,345,678 rows'],
    [{ ...rows, done: 0, amount: 0, seconds: 0 }, 35, 'exporting 0%, 0 rows, 0 rows/s'],
    [bytes, 60, `copying ${'█'.repeat(13)}${'░'.repeat(4)} 75%, 300.0 MB, 150.0 MB/s, 1s left`],
    [{ ...rows, seconds: 4000 }, 60, 'exporting 25%, 2,345,678 rows, 586 rows/s, 3h20m left'],
  ])('%o in %d columns', (state, columns, line) => {
    expect(toProgressLine(state, columns)).toBe(line)
  })
})

test('the screen of the tests is strict', () => {
  expect(() => toScreen('\u001b[?25l', 80)).toThrow('unexpected control')
  expect(toScreen('abcdef\rxy\u001b[K\r\nz', 4)).toEqual({ lines: ['abcd', 'xy', 'z'], states: ['ef', 'xy'] })
})

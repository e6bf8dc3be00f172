/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toProgressLine } from '../../src/commands/progress-line.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { holdLock } from '../support/list-file.ts'
import { startInTerminal, toScreen } from '../support/screen.ts'
import { until } from '../support/wait.ts'

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

test('an export to the terminal shows no bar between its rows', async () => {
  const { start, print } = await createPlace()
  const run = start('exec rollcall export --format txt --follow')
  await run.shows('bob@site.io')
  await print(['import', '-'], 'cyd@site.io\n')
  await run.shows('cyd@site.io')
  run.type('\u0003')
  const { lines, states, exit } = await run.end()
  expect(exit).toBe('SIGINT')
  // The terminal shows the key.
  expect(lines).toEqual(['ada@site.io', 'bob@site.io', 'cyd@site.io', '^C'])
  expect(states.filter((state) => state.includes('rows'))).toEqual([])
})

test('an export that follows shows no time, and ^C leaves no bar', async () => {
  const { start, print, folder } = await createPlace()
  const run = start('exec rollcall export --format txt --follow > out.txt')
  const out = join(folder, 'out.txt')
  await until(() => existsSync(out) && readFileSync(out, 'utf8').includes('bob'), 'the rows are in the file')
  await print(['import', '-'], 'cyd@site.io\n')
  await run.shows('exporting 3 rows')
  run.type('\u0003')
  const { lines, states, exit } = await run.end()
  expect(exit).toBe('SIGINT')
  expect(lines.join('')).not.toContain('exporting')
  expect(states.filter((state) => state.includes('exporting'))).toEqual([
    expect.stringMatching(/^exporting 3 rows, \d+ rows?\/s(?:\^C)?$/),
  ])
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

test('a removal shows a bar unless its output is on the terminal', async () => {
  const { folder, start, slowDown, write } = await createPlace()
  // A list that is in use is opened at once, and then waits for the lock.
  const store = openSqliteStore(join(folder, 'list.db'))
  onTestFinished(() => store.close())
  // Long rows, so that the last one is read after the first batch is removed.
  const rows = Array.from({ length: 6_000 }, (_, index) => `user.${index}@site.io,${'x'.repeat(500)}\n`)
  await write('gone.csv', `email,note\n${rows.join('')}nobody,\n`)
  await slowDown()
  const { lines, states, exit } = await start('rollcall remove --file gone.csv > removed.txt').end()
  expect(exit).toBe(1)
  expect(states).toContainEqual(expect.stringMatching(/^removing .*[1-9]\d?%, 4,000 rows, [\d,]+ rows\/s, \d+s left$/))
  // The message came while the bar was on the screen.
  expect(lines).toEqual([
    'gone.csv: line 6002: the address is not valid',
    '0 removed, 0 suppressed before, 6000 not on the list',
    'rollcall: 1 row without a valid address',
  ])
  const shown = await start(
    'rollcall remove --file gone.csv 2> notes.txt | tail -n 1; rollcall remove bob@site.io',
  ).end()
  expect(shown.lines).toEqual(['user.5999@site.io: suppressed before', 'bob@site.io: removed'])
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

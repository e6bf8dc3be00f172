/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
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

test.each([80, 40])('an import shows one line in %d columns, which never goes back and is cleared', async (columns) => {
  const { start, slowDown } = await createPlace()
  await slowDown()
  const { lines, states, exit } = await start('rollcall import more.txt', { columns }).end()
  expect(exit).toBe(0)
  const shown = states.filter((state) => state.startsWith('importing'))
  expect(shown.filter((state) => !/^importing [\d,]+ rows(?: \(\d\d? %\))?$/.test(state))).toEqual([])
  const rows = shown.map((state) => Number(state.replaceAll(/\(.*|\D/g, '')))
  expect(rows).not.toBeEmpty()
  expect(rows).toEqual(rows.toSorted((one, other) => one - other))
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
  expect(lines.join('\n')).toContain('rows of 150,000 imported')
  expect(lines.at(-1)).toBe('rollcall: stopped')
  expect(lines.join('\n')).not.toContain('importing')
})

test('the screen of the tests is strict', () => {
  expect(() => toScreen('\u001b[?25l', 80)).toThrow('unexpected control')
  expect(toScreen('abcdef\rxy\u001b[K\r\nz', 4)).toEqual({ lines: ['abcd', 'xy', 'z'], states: ['ef', 'xy'] })
})

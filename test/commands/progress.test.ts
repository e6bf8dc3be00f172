/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'

/** Starts an import of so many addresses that it takes a second, and shows a bar. */
async function startImport(columns: number, TERM = 'xterm') {
  const { folder, list, write } = await createCliFixture()
  await write('more.txt', Array.from({ length: 300_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  return startInTerminal('exec rollcall import more.txt', { columns, folder, env: { DATABASE_URL: list, TERM } })
}

test.each([80, 40])('an import shows one line in %d columns, which never goes back and is cleared', async (columns) => {
  const { lines, states, exit } = await (await startImport(columns)).end()
  expect(exit).toBe(0)
  const shown = states.filter((state) => state.startsWith('importing'))
  expect(shown.filter((state) => !/^importing [\d,]+ rows(?: \(\d\d? %\))?$/.test(state))).toEqual([])
  const rows = shown.map((state) => Number(state.replaceAll(/\(.*|\D/g, '')))
  expect(rows).not.toBeEmpty()
  expect(rows).toEqual(rows.toSorted((one, other) => one - other))
  expect(lines.join('')).not.toMatch(/importing|%/)
})

test('a dumb terminal gets no bar', async () => {
  const { states } = await (await startImport(80, 'dumb')).end()
  expect(states.filter((state) => state.includes('importing'))).toEqual([])
})

test('an import that is stopped leaves its note on the screen, and no bar', async () => {
  const run = await startImport(100)
  await run.shows('importing')
  run.type('\u0003')
  const { lines, exit } = await run.end()
  expect(exit).toBe(130)
  expect(lines.join('\n')).toContain('rows of 300,000 imported')
  expect(lines.at(-1)).toBe('rollcall: stopped')
  expect(lines.join('\n')).not.toContain('importing')
})

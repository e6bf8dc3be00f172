/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'

test.each([80, 40])('an import shows one line in %d columns, which never goes back and is cleared', async (columns) => {
  const { folder, list, write } = await createCliFixture()
  // So many addresses take much longer than the time before the first drawing.
  await write('more.txt', Array.from({ length: 100_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  const run = startInTerminal('exec rollcall import more.txt --yes', { columns, folder, env: { DATABASE_URL: list } })
  const { lines, states, exit } = await run.end()
  expect(exit).toBe(0)
  const shown = states.filter((state) => state.startsWith('importing'))
  expect(shown.filter((state) => !/^importing [\d,]+ rows(?: \(\d\d? %\))?$/.test(state))).toEqual([])
  const rows = shown.map((state) => Number(state.replaceAll(/\(.*|\D/g, '')))
  expect(rows).not.toBeEmpty()
  expect(rows).toEqual(rows.toSorted((one, other) => one - other))
  expect(lines.join('')).not.toMatch(/importing|%/)
})

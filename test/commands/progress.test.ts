/** The progress bar in a real terminal: where it appears, that it fits, and that nothing of it stays behind. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'

/** So many addresses take much longer than the time before the first drawing. */
const MANY = Array.from({ length: 100_000 }, (_, index) => `user.${index}@site.io\n`).join('')

test.each([80, 40])('an import shows one line in %d columns, which never goes back and is cleared', async (columns) => {
  const { folder, list, write } = await createCliFixture()
  await write('more.txt', MANY)
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

test('an import whose notes go to a file or a pipe draws nothing', async () => {
  const { run, write } = await createCliFixture()
  await write('more.txt', MANY)
  const { code, stderr } = await run(['import', 'more.txt', '--yes'])
  expect(code).toBe(0)
  // Nor what clears a line.
  expect(stderr).not.toMatch(/importing|counting|[^\n\P{Cc}]/u)
})

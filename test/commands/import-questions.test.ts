/** The questions of an import, in a real terminal. Without one, they stop the import: import.test.ts. */

import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'

const LIST = `email,VIP,gone,joined us
a@site.io,yes,,2024-05-31
b@site.io,,x,2024-05-31
c@site.io,,inactive,2024-05-31
d@site.io,,moved,2024-05-31
`

const ADDED = [{ email: 'a@site.io', subscribed_at: '2024-05-31T00:00:00.000Z' }]

/** What gives the answers below. */
const COMMAND =
  "rollcall import 'old list.csv' --ignore-column VIP --status-column gone --treat 'gone:x=suppressed' " +
  "--treat 'gone:inactive=suppressed' --treat 'gone:moved=skip' --treat 'gone:=subscribed' --date-column 'joined us'"

/** Starts an import of LIST in a terminal. */
async function startImport() {
  const fixture = await createCliFixture()
  await fixture.write('old list.csv', LIST)
  const { folder, list } = fixture
  const options = { columns: 200, folder, env: { DATABASE_URL: list } }
  return { ...fixture, screen: startInTerminal("exec rollcall import 'old list.csv'", options) }
}

test('the answers are used, and the command that gives the same answers is printed', async () => {
  const { screen, rows } = await startImport()
  await screen.answer('"VIP": "yes" 1, empty 3. Does it say who left? [y/N]', '\r')
  await screen.answer('"gone": "x" 1, "inactive" 1, "moved" 1, empty 1. Does it say who left? [y/N]', 'Y\r')
  await screen.answer('What does "x" mean? 1 subscribed, 2 left, 3 neither [2]', '\r')
  // No choice has this number, so the question comes again.
  await screen.answer('What does "inactive" mean?', '4\r')
  await screen.answer('4\r\r\n\u001b[1G\u001b[0J  What does "inactive" mean?', '2\r')
  await screen.answer('What does "moved" mean?', '3\r')
  await screen.answer('What does an empty cell mean? 1 subscribed, 2 left, 3 neither [1]', '\r')
  await screen.answer('"joined us" has only dates. Is it the date of the subscription? [Y/n]', '\r')
  await screen.shows('1 added, 0 already listed, 2 suppressed, 1 skipped')
  await screen.shows(`The same without questions:\r\n  ${COMMAND}\r\n`)
  expect(await screen.exit()).toBe(0)
  expect(await rows()).toMatchObject(ADDED)

  const other = await createCliFixture()
  await other.write('old list.csv', LIST)
  expect(await other.shell(COMMAND)).toMatchObject({ code: 0, stderr: '' })
  expect(await other.rows()).toMatchObject(ADDED)
})

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at a question changes nothing', async (_, key) => {
  const { folder, screen } = await startImport()
  await screen.answer('"VIP"', '\r')
  await screen.answer('"gone"', key)
  await screen.shows('stopped: nothing was imported')
  expect(await screen.exit()).toBe(130)
  expect(await readdir(folder)).toEqual(['old list.csv'])
})

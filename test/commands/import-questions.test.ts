/** The questions of an import, in a real terminal. Without one, they stop the import: import.test.ts. */

import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startInTerminal } from '../support/screen.ts'

const CLEAR = 'email,name\na@site.io,Ada\n'
const DOUBTFUL = 'email,VIP\na@site.io,x\nb@site.io,\n'
const UNKNOWN = 'email,status\na@site.io,active\nb@site.io,VIP\nc@site.io,moved\n'

/** Starts an import of a file in a terminal. */
async function startImport(text: string, options = '') {
  const fixture = await createCliFixture()
  await fixture.write('old list.csv', text)
  const { folder, list } = fixture
  const screen = startInTerminal(`exec rollcall import 'old list.csv' ${options}`, {
    columns: 200,
    folder,
    env: { DATABASE_URL: list },
  })
  return { ...fixture, screen }
}

test.each([
  ['without a doubt, Enter is yes', CLEAR, '[Y/n]', '\r', 1],
  ['with a doubt, Enter is no', DOUBTFUL, '[y/N]', '\r', 0],
  ['no is no', CLEAR, '[Y/n]', 'n\r', 0],
  ['yes is yes', DOUBTFUL, '[y/N]', 'YES\r', 2],
  ['yes in another language', DOUBTFUL, '[y/N]', 'はい\r', 2],
  ['no in another language', CLEAR, '[Y/n]', 'nein\r', 0],
])('%s', async (_, text, choice, keys, people) => {
  const { folder, rows, screen } = await startImport(text)
  await screen.answer(`would be added`, '')
  await screen.answer(`Import? ${choice}`, keys)
  if (people === 0) await screen.shows('stopped: nothing was imported')
  expect(await screen.exit()).toBe(people > 0 ? 0 : 1)
  if (people === 0) expect(await readdir(folder)).toEqual(['old list.csv'])
  else expect(await rows()).toHaveLength(people)
})

test.each(['vielleicht', '1', 'x', 'yn', 'yes please', '?', 'ja nein'])(
  '%j is no answer: it is asked again',
  async (answer) => {
    const { folder, screen } = await startImport(DOUBTFUL)
    await screen.answer('Import? [y/N]', `${answer}\r`)
    await screen.answer(`${answer}\r\nImport? [y/N]`, 'n\r')
    expect(await screen.exit()).toBe(1)
    expect(await readdir(folder)).toEqual(['old list.csv'])
  },
)

test('each unknown value is asked for, without a default, before the review', async () => {
  const { rows, screen } = await startImport(UNKNOWN)
  const question = (value: string) => `"status": what does "${value}" (1 row) mean? 1 subscribed, 2 left, 3 neither`
  for (const wrong of ['', '4', '0', 'x', '1.5', '0x1']) {
    await screen.answer(`${question('VIP')} `, `${wrong}\r`)
    await screen.shows(`${wrong}\r\n${question('VIP')}`)
  }
  await screen.answer(question('VIP'), '1\r')
  await screen.answer(question('moved'), '2\r')
  await screen.shows('status    "status": active 1 subscribed; VIP 1 subscribed; moved 1 left')
  await screen.answer('Import? [Y/n]', '\r')
  expect(await screen.exit()).toBe(0)
  expect((await rows()).map(({ email }) => email)).toEqual(['a@site.io', 'b@site.io'])
})

test('--yes and --dry-run ask nothing', async () => {
  const { rows, screen } = await startImport(DOUBTFUL, '--yes')
  expect(await screen.exit()).toBe(0)
  expect(await rows()).toHaveLength(2)
  const dry = await startImport(DOUBTFUL, '--dry-run')
  expect(await dry.screen.exit()).toBe(0)
  expect(await readdir(dry.folder)).toEqual(['old list.csv'])
})

test.each([
  ['Ctrl-C', '\u0003', DOUBTFUL, 'Import? [y/N]'],
  ['Ctrl-D', '\u0004', DOUBTFUL, 'Import? [y/N]'],
  ['Ctrl-C', '\u0003', UNKNOWN, 'what does "VIP"'],
  ['Ctrl-D', '\u0004', UNKNOWN, 'what does "VIP"'],
])('%s at a question changes nothing', async (_, key, text, question) => {
  const { folder, screen } = await startImport(text)
  await screen.answer(question, key)
  await screen.shows('stopped: nothing was imported')
  expect(await screen.exit()).toBe(130)
  expect(await readdir(folder)).toEqual(['old list.csv'])
})

test.each([
  ['an answer', 'y\r', 0, 2],
  ['Ctrl-C', '\u0003', 130, 0],
  ['Ctrl-D', '\u0004', 130, 0],
])('after Ctrl-Z and fg, a question is asked again, and takes %s', async (_, key, code, people) => {
  const { folder, list, rows, write } = await createCliFixture()
  await write('list.csv', DOUBTFUL)
  // With -m, the shell has jobs.
  const screen = startInTerminal(`exec bash -mc '"$0" import list.csv; echo "stopped $?"; fg' rollcall `, {
    columns: 200,
    folder,
    env: { DATABASE_URL: list },
  })
  await screen.answer('Import? [y/N]', '\u001a')
  // The shell names the command that goes on, and then comes the question.
  await screen.shows('stopped 147')
  await screen.answer('import list.csv\r\nImport? [y/N]', key)
  expect(await screen.exit()).toBe(code)
  expect(people === 0 ? await readdir(folder) : await rows()).toHaveLength(people === 0 ? 1 : people)
})

/** `rollcall init`: the files that it writes are those that the service reads, and it never replaces one. */

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import { readText } from '../support/markdown.ts'
import { startInTerminal } from '../support/screen.ts'
import { runCommand } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const REQUIRED = ['--base-url', 'https://list.gazette.example', '--name', 'The "Gazette": #1']

async function createRunner() {
  const folder = await createFolder()
  const run = (...args: readonly string[]) => runCommand(['init', ...args], { folder })
  const read = (own = folder) => readConfig(readEnvironment({ ENV_FILE: join(own, 'env') }))
  return { folder, run, read }
}

test('the options answer the questions, and the files are beside each other, where the service finds them', async () => {
  const { folder, run, read } = await createRunner()
  const own = join(folder, 'a b')
  const rest = ['--contact', 'editor@gazette.example', '--languages', 'de, en']
  const { code, stdout, stderr } = await run('a b', ...REQUIRED, ...rest)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`ENV_FILE='${own}/env' rollcall serve`)
  expect(stdout).toContain('  list.gazette.example\n  reverse_proxy 127.0.0.1:3000\n')
  expect(stdout).toContain('server_name list.gazette.example;')
  expect(read(own)).toMatchObject({
    host: '127.0.0.1',
    baseUrl: 'https://list.gazette.example',
    list: { kind: 'sqlite', file: join(own, 'rollcall.db') },
    ops: { port: 9000, host: '127.0.0.1' },
    site: { name: 'The "Gazette": #1', contact: 'mailto:editor@gazette.example', languages: ['de', 'en'] },
    siteFile: { path: join(own, 'site.yaml') },
  })
})

test('without the other options, the files have their comments', async () => {
  const { folder, run, read } = await createRunner()
  expect((await run(...REQUIRED)).code).toBe(0)
  expect(read().site).not.toHaveProperty('contact')
  const site = readFileSync(join(folder, 'site.yaml'), 'utf8')
  expect(site.replace(/^name: .*/m, '# name: "The Gazette"')).toBe(readText('deploy/site.yaml'))
})

test('it replaces no file, except those of the package as they are installed', async () => {
  const { folder, run, read } = await createRunner()
  writeFileSync(join(folder, 'site.yaml'), 'name: Mine\n')
  expect(await run(...REQUIRED)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: site.yaml exists, and init replaces no file: edit it, or name another folder\n',
  })
  expect(readdirSync(folder)).toEqual(['site.yaml'])
  writeFileSync(join(folder, 'site.yaml'), readText('deploy/site.yaml'))
  expect((await run(...REQUIRED)).code).toBe(0)
  expect(read().site.name).toBe('The "Gazette": #1')
  expect((await run(...REQUIRED)).code).toBe(1)
})

test.each([
  [['--name', 'x'], '--base-url and --name are needed'],
  [['--base-url', 'https://list.example'], '--base-url and --name are needed'],
  [['--name', 'x', '--base-url', 'list.example'], 'BASE_URL is "list.example": use an origin such as'],
  [[...REQUIRED, '--contact', 'me'], 'contact is "me": use a URL such as'],
  [[...REQUIRED, '--languages', 'xx'], 'languages.0 is "xx": use a list of these tags'],
])('%j without a terminal is a usage error, and nothing is written', async (args, message) => {
  const { folder, run } = await createRunner()
  expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  expect(readdirSync(folder)).toEqual([])
})

test('on a terminal it asks, and asks again after a mistake; an empty line takes the default', async () => {
  const { folder, read } = await createRunner()
  const run = startInTerminal('exec rollcall init . --contact none', { columns: 120, folder, env: {} })
  await run.answer(
    'The address of the page, such as https://list.example.org [http://localhost:3000]: ',
    'list.example\r',
  )
  await run.answer('BASE_URL is "list.example": use an origin such as', 'https://list.example\r')
  await run.answer('[Newsletter]: ', '\r')
  await run.answer('[all]: ', 'ja\r')
  await run.shows('rollcall serve')
  expect(await run.exit()).toBe(0)
  expect(read()).toMatchObject({ baseUrl: 'https://list.example', site: { languages: ['ja'], words: {} } })
})

test.each(['\u0003', '\u0004'])('%j on a terminal stops it, and nothing is written', async (key) => {
  const { folder } = await createRunner()
  const run = startInTerminal('exec rollcall init', { columns: 120, folder, env: {} })
  await run.answer('[http://localhost:3000]: ', key)
  await run.shows('stopped: nothing is written')
  expect(await run.exit()).toBe(130)
  expect(readdirSync(folder)).toEqual([])
})

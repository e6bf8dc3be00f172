/** `rollcall init`: the files that it writes are those that the service reads, and it never replaces one. */

import { expect, test } from 'bun:test'
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { PROGRAM } from '../support/program.ts'
import { startInTerminal } from '../support/screen.ts'
import { runCommand } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const REQUIRED = ['--base-url', 'https://list.gazette.example', '--name', 'The "Gazette": #1']

test('a folder may have blanks and letters of any language, and no character that a URL would change', async () => {
  const { folder, run, read } = await createRunner()
  expect(await run(['mein Verein ü', ...REQUIRED])).toMatchObject({ code: 0, stderr: '' })
  const own = join(folder, 'mein Verein ü')
  expect(read(own).list).toEqual({ kind: 'sqlite', file: join(own, 'rollcall.db') })
  for (const name of ['100%', 'a#b', 'a?b']) {
    expect(await run([name, ...REQUIRED])).toMatchObject({ code: 2, stdout: '' })
  }
  expect(readdirSync(folder)).toEqual(['mein Verein ü'])
})

async function createRunner() {
  const folder = await createFolder()
  const run = (args: readonly string[], program = [PROGRAM]) => runCommand(['init', ...args], { folder, program })
  const read = (own = folder) => readConfig(readEnvironment({ ENV_FILE: join(own, 'env') }))
  return { folder, run, read }
}

test('the options answer the questions, and the files are beside each other, where the service finds them', async () => {
  const { folder, run, read } = await createRunner()
  const own = join(folder, "it's")
  const rest = ['--description', 'Jeden Freitag.', '--contact', 'editor@gazette.example', '--languages', 'de, en']
  const { code, stdout, stderr } = await run(["it's", ...REQUIRED, ...rest])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`ENV_FILE='${own.replace("'", "'\\''")}/env' rollcall serve`)
  const { port, ops } = read(own)
  expect(stdout).toContain(`  list.gazette.example {\n    reverse_proxy 127.0.0.1:${port}\n  }\n`)
  expect(stdout).toContain('server_name list.gazette.example;')
  // Before the page says it.
  expect(stdout).toContain(
    'The page says that its content has the license CC BY-SA 4.0. If that is not so: license: none, in ',
  )
  expect(stdout).toContain(`proxy_pass http://127.0.0.1:${port};`)
  expect(port).toBeWithin(3000, 3200)
  expect(ops?.port).toBeWithin(9000, 9200)
  expect(read(own)).toMatchObject({
    host: '127.0.0.1',
    baseUrl: 'https://list.gazette.example',
    list: { kind: 'sqlite', file: join(own, 'rollcall.db') },
    ops: { host: '127.0.0.1' },
    site: {
      name: 'The "Gazette": #1',
      description: 'Jeden Freitag.',
      contact: 'mailto:editor@gazette.example',
      languages: ['de', 'en'],
    },
    siteFile: { path: join(own, 'site.yaml') },
  })
})

test('without the other options, the files have their comments', async () => {
  const { folder, run, read } = await createRunner()
  expect((await run([...REQUIRED])).code).toBe(0)
  expect(read().site).not.toHaveProperty('contact')
  const site = readFileSync(join(folder, 'site.yaml'), 'utf8')
  expect(site.replace(/^name: .*/m, '# name: "The Gazette"')).toBe(readText('deploy/site.yaml'))
})

test('it replaces no file', async () => {
  const { folder, run } = await createRunner()
  writeFileSync(join(folder, 'site.yaml'), 'name: Mine\n')
  expect(await run([...REQUIRED])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: site.yaml exists, and init replaces no file: edit it, or name another folder\n',
  })
  expect(readdirSync(folder)).toEqual(['site.yaml'])
})

test('after an error nothing is left, so that the next one does not refuse to replace it', async () => {
  const { folder, run } = await createRunner()
  symlinkSync('none/env', join(folder, 'env'))
  expect(await run(REQUIRED)).toMatchObject({ code: 1, stderr: 'rollcall: env: there is no such file or folder\n' })
  expect(readdirSync(folder)).toEqual(['env'])
  rmSync(join(folder, 'env'))
  expect(await run(REQUIRED)).toMatchObject({ code: 0 })
})

test('lines for a proxy are printed for a URL with TLS only', async () => {
  const { run } = await createRunner()
  const { code, stdout } = await run(['--base-url', 'http://localhost:3000', '--name', 'Gazette'])
  expect(code).toBe(0)
  expect(stdout).toContain('rollcall serve\n\nThe page says')
})

test('nginx and certbot get the name of the host, without a port', async () => {
  const { run } = await createRunner()
  const { stdout } = await run(['--base-url', 'https://list.gazette.example:8443', '--name', 'Gazette'])
  expect(stdout).toContain('server_name list.gazette.example;')
  expect(stdout).toContain('certbot --nginx --domain list.gazette.example`')
})

test('only the owner and the group of the folder read the files, under any umask', async () => {
  const { folder } = await createRunner()
  const program = join(ROOT, 'bin/rollcall')
  const args = `init new --base-url https://list.example --name "Garden: News"`
  const { exitCode } = Bun.spawnSync(['sh', '-c', `umask 077; ${program} ${args}`], {
    cwd: folder,
    env: { PATH: '/bin' },
  })
  const modes = ['', 'env', 'site.yaml'].map((name) => statSync(join(folder, 'new', name)).mode & 0o777)
  expect([exitCode, ...modes]).toEqual([0, 0o700, 0o640, 0o640])
  expect(readdirSync(join(folder, 'new')).sort()).toEqual(['env', 'site.yaml'])
})

test('it takes ports that are free, and says so in the settings and in the lines for a proxy', async () => {
  const { folder, run, read } = await createRunner()
  expect((await run([...REQUIRED])).code).toBe(0)
  const first = read()
  // The ports that it has just found may have been taken meanwhile, which is as good.
  const take = (port = 0) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const server = createServer()
    server.once('error', resolve).listen(port, '127.0.0.1', () => resolve(undefined))
    return promise.then(() => server)
  }
  const listeners = await Promise.all([take(first.port), take(first.ops?.port)])
  const { stdout } = await run(['second', ...REQUIRED])
  const second = read(join(folder, 'second'))
  for (const listener of listeners) listener.close()
  expect(second.port).toBeGreaterThan(first.port)
  expect(second.ops?.port).toBeGreaterThan(first.ops?.port ?? 0)
  expect([...(stdout.match(/127\.0\.0\.1:\d+/g) ?? [])]).toEqual(Array(2).fill(`127.0.0.1:${second.port}`))
  expect(stdout).toContain(`In them, write ${second.port} for the port 3000.`)
})

/** A command in it may mount a folder of its own. */
const IN_NAMESPACE = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]

test.skipIf(!Bun.spawnSync([...IN_NAMESPACE, 'true']).success)(
  'one more newsletter has other ports than those that do not run, and the group of the service reads its settings',
  async () => {
    const { folder, run, read } = await createRunner()
    const group = process.getuid?.() === 0 ? 4711 : 0
    const etc = join(folder, 'etc')
    // As the package creates it.
    mkdirSync(join(etc, 'rollcall'), { recursive: true })
    if (group) chownSync(join(etc, 'rollcall'), 0, group)
    const script = 'mount --bind etc /etc; exec "$0" "$@"'
    for (const place of ['rollcall', 'rollcall/garden']) {
      const program = [...IN_NAMESPACE, 'sh', '-c', script, PROGRAM]
      expect(await run([`/etc/${place}`, ...REQUIRED], program)).toMatchObject({ code: 0, stderr: '' })
      const gids = ['', 'env', 'site.yaml'].map((name) => statSync(join(etc, place, name)).gid)
      expect(gids).toEqual(Array(3).fill(group || process.getgid?.()))
    }
    const [first, garden] = [read(join(etc, 'rollcall')), read(join(etc, 'rollcall/garden'))]
    expect(garden).toMatchObject({ list: { file: '/var/lib/rollcall/garden/rollcall.db' } })
    expect(garden.port).toBeGreaterThan(first.port)
    expect(garden.ops?.port).toBeGreaterThan(first.ops?.port ?? 0)
  },
)

test('a name that no unit can have is refused for one more newsletter', async () => {
  const { run } = await createRunner()
  for (const name of ['a b', 'backups', 'é'])
    expect(await run([`/etc/rollcall/${name}`, ...REQUIRED])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use a name of letters, digits, ".", "_" and "-"'),
    })
})

test.each([
  [['--name', 'x'], '--base-url and --name are needed'],
  [['--base-url', 'https://list.example'], '--base-url and --name are needed'],
  [
    ['--name', 'x', '--base-url', 'list.example'],
    'BASE_URL is "list.example": use an origin such as https://list.example:',
  ],
  [[...REQUIRED, '--contact', 'me'], 'contact is "me": use a URL such as'],
  [[...REQUIRED, '--languages', 'xx'], 'languages.0 is "xx": use a list of these tags'],
])('%j without a terminal is a usage error, and nothing is written', async (args, message) => {
  const { folder, run } = await createRunner()
  expect(await run([...args])).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  expect(readdirSync(folder)).toEqual([])
})

test('on a terminal it asks, and asks again after a mistake; an empty line takes the default', async () => {
  const { folder, read } = await createRunner()
  const run = startInTerminal('exec rollcall init . --contact none', { columns: 120, folder, env: {} })
  await run.answer('The name of the newsletter, such as The Gazette [Newsletter]: ', '\r')
  await run.answer('What readers get, such as One true story each Friday [none]: ', 'News: every "Friday"\r')
  const question = 'The URL of the page, such as https://list.example.org'
  await run.answer(`${question} [http://localhost:3000]: `, 'list.example/news\r')
  await run.answer('BASE_URL is "list.example/news": use an origin such as', 'https://list.example\r')
  await run.answer('[all]: ', 'ja\r')
  await run.shows('rollcall serve')
  expect(await run.exit()).toBe(0)
  const site = { languages: ['ja'], description: 'News: every "Friday"' }
  expect(read()).toMatchObject({ baseUrl: 'https://list.example', site })
  expect(read().site.words.name).toBeUndefined()
})

test.each([
  ['list.gazette.example', ''],
  ['https://list.gazette.example/', ''],
  ['List.Gazette.example/', 'https://list.gazette.example'],
])('for %s it offers the URL that it understood, and "%s" is the answer', async (typed, answer) => {
  const { folder, read } = await createRunner()
  const run = startInTerminal('exec rollcall init . --description none --contact none --languages all', {
    columns: 120,
    folder,
    env: {},
  })
  await run.answer('[Newsletter]: ', 'Gartenbrief: Neues\r')
  await run.answer('[http://localhost:3000]: ', `${typed}\r`)
  await run.shows('use an origin such as https://list.gazette.example')
  await run.answer('[https://list.gazette.example]: ', `${answer}\r`)
  await run.shows('To start the service at https://list.gazette.example:')
  expect(await run.exit()).toBe(0)
  expect(read()).toMatchObject({ baseUrl: 'https://list.gazette.example', site: { name: 'Gartenbrief: Neues' } })
})

test.each(['\u0003', '\u0004'])('%j on a terminal stops it, and nothing is written', async (key) => {
  const { folder } = await createRunner()
  const run = startInTerminal('exec rollcall init', { columns: 120, folder, env: {} })
  await run.answer('[Newsletter]: ', key)
  await run.shows('stopped: nothing is written')
  expect(await run.exit()).toBe(130)
  expect(readdirSync(folder)).toEqual([])
})

test('the folder of the settings is closed to other users, under any umask', async () => {
  const { folder, shell } = await createCliFixture()
  const { code } = await shell('umask 022; rollcall init settings --base-url https://list.example.org --name News')
  expect([code, statSync(join(folder, 'settings')).mode & 0o777]).toEqual([0, 0o750])
})

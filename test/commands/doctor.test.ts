import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { nameList } from '../../src/commands/shared.ts'
import { HEALTH_DEADLINE_MS } from '../../src/limits.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { BOUND_BY_MODES } from '../support/disk.ts'
import { toSupportFile } from '../support/paths.ts'
import { PROGRAM } from '../support/program.ts'
import { runCommand, startCommand, startService } from '../support/service.ts'
import { within } from '../support/wait.ts'
import { createFolder, findPort } from '../support/workspace.ts'

test('a line for each check, ok or what to do, and the exit code says whether something is wrong', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const lines = (await print(['doctor'])).trimEnd().split('\n')
  expect(lines.filter((line) => !/^[a-z .]+ +(?:ok|not checked): ./.test(line))).toEqual([])
  expect(lines.filter((line) => line.includes(' not checked: ')).map((line) => line.split(' ')[0])).toEqual([
    'service',
    'url',
    'backup',
  ])

  chmodSync(join(folder, 'list.db'), 0o644)
  const { code, stdout, stderr } = await run(['doctor', '--json'])
  const { list, ok, checks } = JSON.parse(stdout) as { list: string; ok: boolean; checks: { ok: boolean }[] }
  expect({ code, stderr }).toEqual({ code: 1, stderr: `rollcall: 1 check of ${checks.length} found something wrong\n` })
  expect({ list, ok }).toEqual({ list: `sqlite:${folder}/list.db`, ok: false })
  const found = { check: 'file modes', ok: false, message: expect.stringContaining('chmod 600') }
  expect(checks.filter((check) => check.ok === false)).toEqual([found])
})

test('invalid settings and a missing list are reported, and nothing is created', async () => {
  const { folder } = await createCliFixture()
  const doctor = (env: Record<string, string>) => runCommand(['doctor'], { folder, env })
  const { code, stdout } = await doctor({ SITE_FILE: 'none.yaml' })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^settings +wrong: SITE_FILE is "none.yaml"/m)
  expect(stdout).toMatch(/^list +wrong: there is no list at .*data\/rollcall.db/m)
  expect(readdirSync(folder)).toEqual([])

  const invalid = await doctor({ DATABASE_URL: 'mysql://user:secret@host/db' })
  expect(invalid).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^rollcall: DATABASE_URL is wrong .*\n$/),
  })
  expect(invalid.stderr).not.toContain('secret')
})

test('a running service with another BASE_URL or another list is named, and what killed commands left', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  const { folder } = service
  const env = { OPS_PORT: String(service.opsPort), BASE_URL: 'http://127.0.0.1:3000' }
  const doctor = async (more: Record<string, string> = {}) =>
    (await runCommand(['doctor'], { folder, env: { ...env, ...more } })).stdout
  const sound = await doctor()
  expect(sound).toContain('\nservice        ok: it works, and runs with these settings; its version is ')
  expect(sound).toContain(`\nleftovers      ok: none in ${folder} and ${folder}/data\n`)
  const left = `.list.csv.${Bun.spawnSync(['true']).pid}.partial`
  writeFileSync(join(folder, left), '')
  const more = { BASE_URL: 'http://other.example', DATABASE_URL: 'sqlite:other.db', SITE_FILE: '/dev/null' }
  const other = await doctor(more)
  expect(other).toContain(
    `service        wrong: it runs with BASE_URL http://127.0.0.1:3000, and not http://other.example; and with the list sqlite:${folder}/data/rollcall.db, and not sqlite:${folder}/other.db; and with the site file none, and not /dev/null: give this command the settings of the service, or restart the service to use the new ones`,
  )
  expect(other).toContain(`wrong: killed commands left files with addresses: run: rm ${folder}/${left}\n`)
  await service.stop()
  expect((await runCommand(['doctor'], { env })).stdout).toContain(
    `service        wrong: http://127.0.0.1:${service.opsPort}/config: nothing listens: start the service, such as with: systemctl start rollcall\n`,
  )
})

test('a cursor is compared with the list, and what is left next to its file is found', async () => {
  const { folder, print, run } = await createCliFixture()
  mkdirSync(join(folder, 'state'))
  await print(['import', '-'], 'ada@site.io\n')
  await print(['export', '--cursor-file', 'state/cursor'])
  const doctor = async () => (await run(['doctor', '--cursor-file', 'state/cursor'])).stdout
  expect(await doctor()).toMatch(/^cursor +ok: state\/cursor: an export continues after \d+; nobody waits$/m)
  writeFileSync(join(folder, 'state/cursor'), '1 0123456789abcdef\n')
  const left = `state/.cursor.${Bun.spawnSync(['true']).pid}.partial`
  writeFileSync(join(folder, left), '')
  const wrong = await doctor()
  expect(wrong).toMatch(/^cursor +wrong: the cursor 1 belongs to another list/m)
  expect(wrong).toContain(`run: rm ${folder}/${left}\n`)
  expect((await run(['doctor', '--cursor-file', 'none'])).stdout).toMatch(
    /^cursor +wrong: none: there is no such file/m,
  )
})

test('who waits to be handed over is counted, and is wrong after a day; recipes are found by their settings', async () => {
  const { folder, fill, print, run, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['export', '--cursor-file', 'ghost.cursor'])
  // Exports leave it out.
  await print(['import', '-'], 'x@example.org\n')
  const says = async (...args: string[]) => /^cursor .*$/m.exec((await run(['doctor', ...args])).stdout)?.[0]
  expect(await says()).toBeUndefined()
  await write('ghost.json', '{}')
  const file = join(folder, 'ghost.cursor')
  expect(await says()).toMatch(
    new RegExp(`^cursor +ok: ${RegExp.escape(file)}: an export continues after \\d+; nobody waits$`),
  )
  await fill(40)
  const waits = /ok: ghost\.cursor: .*; 40 subscribers waiting to be handed over, the first since (.*)$/
  const [, since = ''] = waits.exec((await says('--cursor-file', 'ghost.cursor')) ?? '') ?? []
  expect(Math.abs(Date.parse(since) - Date.now())).toBeLessThan(60_000)
  // The number of the first one says when he came. Here he came at the start of 2026.
  using db = new Database(join(folder, 'list.db'))
  db.run('UPDATE subscribers SET seq = 5 WHERE seq = (SELECT max(seq) FROM subscribers)')
  await write('ghost.cursor', '1\n')
  expect(await says()).toMatch(
    /^cursor +wrong: .*ghost\.cursor: .*; 41 subscribers waiting to be handed over, the first since 2026-01-01T.*: the log of the hand-over says why/,
  )
})

test('a site file that changed since the start is named, and a service that has lost its list with its rescue file', async () => {
  const site = 'name: The Gazette\n'
  const service = await startService({ site, env: { OPS_PORT: '0', BASE_URL: 'https://news.gazette.net' } })
  const { folder } = service
  const env = { OPS_PORT: String(service.opsPort), BASE_URL: 'https://news.gazette.net' }
  const doctor = async () => (await runCommand(['doctor'], { folder, env })).stdout
  expect(await doctor()).not.toContain('wrong')
  writeFileSync(join(folder, 'site.yaml'), `${site}description: News\n`)
  expect(await doctor()).toContain(
    `service        wrong: ${folder}/site.yaml has changed since the start: restart the service to use the new site file\n`,
  )
  writeFileSync(join(folder, 'site.yaml'), site)
  rmSync(join(folder, 'data'), { recursive: true })
  await service.subscribe('ada@example.org')
  await service.logged('the addresses of the open file are in')
  const lost = await doctor()
  expect(lost).toContain(`/readyz: 503, the store fails: see the log of the service`)
  const [rescue] = readdirSync(folder).filter((name) => name.includes('.rescue-'))
  expect(lost).toContain(
    `leftovers      wrong: ${folder}/${rescue}: when the list was lost, this kept its addresses: restore or import it`,
  )
  await service.stop()
})

test.each([
  [{ BASE_URL: 'https://list.example.org' }, 'https://list.example.org is an example: set BASE_URL'],
  [{ BASE_URL: 'https://news.site.io' }, 'its name is "Newsletter", the default: set name in site.yaml'],
])('values that nobody has changed are wrong: %j', async (env, says) => {
  const { stdout } = await runCommand(['doctor'], { folder: await createFolder(), env })
  expect(stdout).toContain(`\nsite           wrong: ${says}`)
})

test('it says what the page lacks that makes people trust it', async () => {
  const folder = await createFolder()
  const file = join(folder, 'site.yaml')
  const doctor = async (site: string) => {
    writeFileSync(file, site)
    const env = { BASE_URL: 'https://news.site.io', SITE_FILE: file }
    const { stdout } = await runCommand(['doctor'], { folder, env })
    return stdout.match(/^site +(.*)$/m)?.[1]
  }
  expect(await doctor('name: The Gazette')).toBe(
    `ok: The Gazette, from ${file}; for a page that people trust, add description, contact, and privacy to ${file}`,
  )
  expect(await doctor('description: Every Friday.\ncontact: "mailto:ann@site.io"')).toEndWith(
    `set name in ${file}; for a page that people trust, add name and privacy to ${file}`,
  )
  const whole = 'name: The Gazette\ndescription: x\ncontact: "mailto:ann@site.io"\nprivacy: https://site.io/privacy'
  expect(await doctor(whole)).toBe(`ok: The Gazette, from ${file}`)
})

/** Runs doctor as a user whom the modes of files bind. */
function runBound(folder: string, args: readonly string[]) {
  return runCommand(['doctor', ...args], { folder, program: [...BOUND_BY_MODES, PROGRAM] })
}

test('a list or a cursor file that this user may not read or write is wrong, in one line', async () => {
  const { folder, print } = await createCliFixture()
  for (const name of ['sound', 'closed', 'locked']) mkdirSync(join(folder, name))
  for (const name of ['sound', 'closed']) await print(['import', '-', '--list', `sqlite:${name}/l.db`], 'a@site.io\n')
  chmodSync(join(folder, 'closed'), 0o500)
  chmodSync(join(folder, 'locked'), 0o000)
  writeFileSync(join(folder, 'foreign'), '0', { mode: 0o000 })
  writeFileSync(join(folder, 'file'), '')
  symlinkSync('loop', join(folder, 'loop'))
  const user = Bun.spawnSync(['id', '-un']).stdout.toString().trim()
  const denied = (name: string, mode: string) =>
    `permission denied: ${folder}/${name} belongs to ${user}, and this runs as ${user}, but its mode is ${mode}: run: chmod u+rwX ${folder}/${name}\n`
  const cursor = (file: string) => ['--list', 'sqlite:sound/l.db', '--cursor-file', file]
  for (const [args, line] of [
    [['--list', 'sqlite:closed/l.db'], `file modes     wrong: ${folder}/closed: ${denied('closed', '500')}`],
    [
      ['--list', 'sqlite:locked/l.db'],
      `list           wrong: the list ${folder}/locked/l.db cannot be used: ${denied('locked', '0')}`,
    ],
    [
      ['--list', 'sqlite:file/l.db'],
      `list           wrong: the list ${folder}/file/l.db cannot be used: ${folder}/file is not a folder`,
    ],
    [
      ['--list', `sqlite:${'x'.repeat(300)}`],
      `list           wrong: the list ${folder}/${'x'.repeat(300)} cannot be used: its name is too long`,
    ],
    [cursor('foreign'), `cursor         wrong: foreign: ${denied('foreign', '0')}`],
    [cursor('locked/c'), `cursor         wrong: locked/c: ${denied('locked', '0')}`],
    [cursor('sound'), 'cursor         wrong: sound: it is a folder: name a file'],
    [cursor('loop'), 'cursor         wrong: loop: it is a link to itself'],
  ] as const) {
    const { code, stdout, stderr } = await runBound(folder, args)
    expect(stdout.split('\n').filter((text) => text.includes(' wrong: '))).toEqual([
      expect.stringContaining(line.trimEnd()),
    ])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^rollcall: 1 check of .*\n$/) })
  }
})

test('another program at OPS_PORT is wrong, whatever it answers', async () => {
  for (const [status, text] of [
    [200, '<p>Welcome</p>'],
    [200, 'null'],
    [404, '<p>There is no such page</p>'],
  ] as const) {
    const server = createServer((_, response) => void response.writeHead(status).end(text))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const env = { OPS_PORT: String((server.address() as AddressInfo).port) }
    const { code, stdout } = await runCommand(['doctor'], { folder: await createFolder(), env })
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        /^service +wrong: [^<\\]*: another program answers: correct the host and the port in the settings$/m,
      ),
    })
  }
})

test('a public address that takes a connection and never answers does not hold doctor up', async () => {
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.2', socket: { data() {} } })
  const BASE_URL = `http://127.0.0.2:${silent.port}`
  const { process: child, ended } = startCommand(['doctor'], { folder: await createFolder(), env: { BASE_URL } })
  onTestFinished(() => child.kill('SIGKILL'))
  const { stdout } = await within(ended, 'the end of doctor', 2 * HEALTH_DEADLINE_MS)
  expect(stdout).toContain(`not checked: ${BASE_URL} cannot be reached from this machine\n`)
})

test('the public address must lead to this service: its host, every path, and a valid certificate', async () => {
  const port = findPort()
  // It is not "localhost", which is nobody's public address.
  const BASE_URL = `http://127.0.0.2:${port}`
  const doctor = async (url = BASE_URL) => {
    const { stdout } = await runCommand(['doctor'], { folder: await createFolder(), env: { BASE_URL: url } })
    return /^url +(.*)$/m.exec(stdout)?.[1]
  }
  expect(await doctor()).toBe(`not checked: ${BASE_URL} cannot be reached from this machine`)
  expect(await doctor('http://localhost:1')).toBe('not checked: http://localhost:1 is for this machine only')
  const service = await startService({ env: { HOST: '0.0.0.0', PORT: String(port), BASE_URL } })
  expect(await doctor()).toBe(`ok: ${BASE_URL} leads to this service`)
  // Another Rollcall, or a wrong BASE_URL.
  const other = `http://127.0.0.3:${port}`
  expect(await doctor(other)).toStartWith(
    `wrong: ${other}/openapi.json does not lead to this service: 200: the proxy must`,
  )
  await service.stop()
  const answers: readonly [status: number, headers?: Record<string, string>][] = [
    [404],
    [200],
    [301, { Location: 'https://www.site.io/' }],
  ]
  for (const [status, headers = {}] of answers) {
    using site = Bun.serve({
      port,
      hostname: '127.0.0.2',
      fetch: () => new Response('<h1>Shop</h1>', { status, headers }),
    })
    const to = headers.Location ? ` to ${headers.Location}` : ''
    expect(site.port).toBe(port)
    expect(await doctor()).toStartWith(
      `wrong: ${BASE_URL}/api/newsletter does not lead to this service: ${status}${to}: `,
    )
    await site.stop(true)
  }
  const [cert, key] = ['crt', 'key'].map((end) => Bun.file(toSupportFile(`certificate/localhost.${end}`)))
  using secure = Bun.serve({
    port: 0,
    hostname: '127.0.0.2',
    tls: { cert: cert!, key: key! },
    fetch: () => new Response(),
  })
  const url = `https://127.0.0.2:${secure.port}`
  expect(await doctor(url)).toMatch(
    /^wrong: https:.*: its certificate is not valid \([A-Z_]+\): see the log of the proxy$/,
  )
})

test('a file or a folder of root is named with its owner, who runs this, and what to do', async () => {
  const folder = await createFolder()
  const isRoot = process.getuid?.() === 0
  const program = [...(isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : []), PROGRAM]
  const user = isRoot ? 'nobody' : Bun.spawnSync(['id', '-un']).stdout.toString().trim()
  chmodSync(folder, 0o755)
  const says = async (...args: string[]) =>
    (await runCommand(args, { folder: '/', program, stdin: 'ada@site.io' })).stderr
  const denied = (path: string) => `permission denied: ${path} belongs to root, and this runs as ${user}`
  expect(await says('import', '/proc/1/environ')).toBe(
    `rollcall: /proc/1/environ: ${denied('/proc/1/environ')}: run it with sudo\n`,
  )
  expect(await says('import', '-', '--list', 'sqlite:/etc/rollcall-test.db')).toContain(
    `${denied('/etc')}: run it with sudo, or use a folder that belongs to ${user}\n`,
  )
  if (!isRoot) return
  // The file of somebody else in a folder of this user, such as a list that was copied by hand.
  const mine = join(folder, 'mine')
  mkdirSync(mine)
  const file = join(mine, 'list.csv')
  writeFileSync(file, '', { mode: 0o600 })
  chownSync(mine, 65_534, 65_534)
  expect(await says('import', file)).toEndWith(`: run as root: chown nobody ${file}\n`)
})

test('in a container, what to do about a file or a folder is for the host, which has it at another path', async () => {
  // Only root can be the user of the image, or the first process.
  if (process.getuid?.() !== 0) return
  const image = ['setpriv', '--reuid=65532', '--regid=65532', '--clear-groups', '--', PROGRAM]
  const says = async (...args: string[]) => (await runCommand(args, { folder: '/', program: image })).stderr
  expect(await says('count', '--list', 'sqlite:/root/rollcall.db')).toContain(
    'belongs to root, and this runs as 65532: on the host, run: sudo chown -R 65532 FOLDER, with the folder that is mounted there\n',
  )
  expect(await says('import', '/proc/1/environ')).toContain(
    ': on the host, run: sudo chown 65532 FILE, or, if it is only read: chmod a+r FILE, with the file that is mounted there\n',
  )
  const first = ['unshare', '--pid', '--fork', ...image.map((word) => word.replace('65532', '1234'))]
  const { stderr } = await runCommand(['count', '--list', 'sqlite:/root/rollcall.db'], { folder: '/', program: first })
  expect(stderr).toContain(': on the host, run: sudo chown -R 1234 FOLDER,')
})

test('a list and a log of two users are wrong, also for root, with the command that corrects it', async () => {
  // Only root can make them.
  if (process.getuid?.() !== 0) return
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  chownSync(folder, 65534, 65534)
  const { stdout } = await run(['doctor'])
  const list = join(folder, 'list.db')
  const says = `${folder} belongs to nobody, but ${list} to root: run as root: chown nobody ${list}`
  expect(stdout).toContain(`\nfile modes     wrong: ${says}\n`)
  Bun.spawnSync(['sh', '-c', says.slice(says.indexOf('chown'))])
  expect((await run(['doctor'])).stdout).toMatch(/^file modes +ok/m)
  chownSync(folder, 0, 0)
  expect((await run(['doctor'])).stdout).toContain(`: chown nobody ${folder}\n`)
  chownSync(folder, 65534, 65534)
  chmodSync(list, 0o400)
  expect((await run(['doctor'])).stdout).toContain(
    `\nfile modes     wrong: nobody cannot write: run: chmod u+rwX ${list}\n`,
  )
})

test('with --list, the commands that it prints are for that list', async () => {
  const { folder, print, run, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const other = `sqlite:${folder}/other.db`
  await print(['import', '-', '--list', other], 'bob@site.io\ncleo@site.io\n')
  {
    using db = new Database(join(folder, 'other.db'))
    db.run(`UPDATE subscribers SET subscribed_at = 5 WHERE email = 'bob@site.io'`)
  }
  const { stdout } = await run(['doctor', '--list', other])
  const command = /^dates +wrong: .*, run: (.*)$/m.exec(stdout)?.[1]
  expect([...(command?.match(/rollcall \w+ --list \S+/g) ?? [])]).toEqual(
    ['export', 'remove', 'import'].map((verb) => `rollcall ${verb} --list ${other}`),
  )
  expect((await shell(`${command}`)).code).toBe(0)
  expect((await print(['export', '--format', 'txt'])).split('\n').filter(Boolean)).toEqual(['ada@site.io'])
  expect((await print(['export', '--format', 'txt', '--list', other])).split('\n').filter(Boolean).sort()).toEqual([
    'bob@site.io',
    'cleo@site.io',
  ])
  expect((await run(['doctor', '--list', other])).stdout).toMatch(/^dates +ok/m)
})

test('LOG_LEVEL=debug shows where the error of a list comes from', async () => {
  const { folder, print, run, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await Bun.write(join(folder, 'list.db'), 'no database'.repeat(1000))
  const usual = await run(['count'])
  expect(usual.stderr.trimEnd().split('\n')).toHaveLength(1)
  const { code, stderr } = await shell('LOG_LEVEL=debug rollcall count')
  const [line, details = ''] = stderr.split('\n')
  expect([code, `${line}\n`]).toEqual([1, usual.stderr])
  expect(JSON.parse(details)).toMatchObject({ stack: expect.stringContaining('at checkVersion') })
})

test('recipes are found beside the file of a list, and not beside a link to it', async () => {
  const { folder, print, run } = await createCliFixture()
  mkdirSync(join(folder, 'data'))
  mkdirSync(join(folder, 'here'))
  const list = ['--list', `sqlite:${folder}/data/list.db`]
  await print(['import', '-', ...list], 'ada@site.io\n')
  await print(['export', '--cursor-file', 'data/ghost.cursor', ...list])
  writeFileSync(join(folder, 'data/ghost.json'), '{}')
  symlinkSync('../data/list.db', join(folder, 'here/list.db'))
  const { stdout } = await run(['doctor', '--list', `sqlite:${folder}/here/list.db`])
  expect(stdout).toMatch(/^cursor +ok: .*\/data\/ghost\.cursor: /m)
})

test('a password of --list is no part of a command', async () => {
  expect(nameList('run: rollcall count', { list: 'postgres://ada:secret@db.site.io/news' })).toBe(
    'run: rollcall count --list postgres://ada:PASSWORD@db.site.io/news',
  )
})

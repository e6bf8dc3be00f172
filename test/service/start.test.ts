/** Starting: the service creates what is missing, or ends with one line that says why and changes nothing. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/log.ts'
import { startService as start } from '../../src/service.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { readList, toListFile } from '../support/list-file.ts'
import { type Environment, runCommand, startService } from '../support/service.ts'
import { createFolder, findPort } from '../support/workspace.ts'

const BASE = { PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://127.0.0.1:3000' }

/** Runs `serve`, which must fail. */
async function refuse(folder: string, env: Environment): Promise<{ code: number | null; line: string }> {
  const { code, stdout, stderr } = await runCommand(['serve'], { env: { ...BASE, ...env }, folder })
  expect(stdout).toBe('')
  const lines = stderr.replace(/^\{.*"a new, empty list was created: .*\}\n/, '')
  expect(lines).toMatch(/^rollcall: [^\n]+\n$/)
  return { code, line: lines.slice('rollcall: '.length, -1) }
}

test.concurrent('the service starts in an empty folder, and creates the list in its own folder', async () => {
  const service = await startService()
  expect(await readdir(service.folder)).toEqual(['data'])
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(service.log().split('\n')[1]).toMatch(
    /listening on 127\.0\.0\.1 port \d+ .*sqlite:data\/rollcall\.db and no site file/,
  )
  expect(await service.stop()).toBe(0)
  expect((await readdir(join(service.folder, 'data'))).toSorted()).toEqual(['rollcall.db'])
  expect(await readList(service.folder)).toEqual(['ada@example.org'])
})

test.concurrent('a port that is taken stops the start, and the list is closed', async () => {
  const service = await startService()
  const folder = await createFolder()
  const toLine = (name: string) =>
    `cannot listen on 127.0.0.1 port ${service.port}: another process uses the port: stop it, or set ${name} to another one`
  for (const name of ['PORT', 'OPS_PORT']) {
    expect(await refuse(folder, { [name]: String(service.port) })).toEqual({ code: 1, line: toLine(name) })
    // A list that was not closed has a write-ahead log beside it.
    expect((await readdir(join(folder, 'data'))).toSorted()).toEqual(['rollcall.db'])
  }
  // The operations listener of a start that failed is closed.
  const opsPort = findPort()
  const env = { PORT: String(service.port), OPS_PORT: String(opsPort), HOST: '127.0.0.1' }
  const config = readConfig({ ...env, DATABASE_URL: `sqlite:${toListFile(folder)}` })
  await expect(start(config, createLog('silent'))).rejects.toThrow(toLine('PORT'))
  Bun.listen({ hostname: '127.0.0.1', port: opsPort, socket: { data() {} } }).stop()
  expect((await service.request('/openapi.json')).status).toBe(200)
  await service.stop()
})

test.concurrent('a page that cannot be built stops the start, and the list is closed', async () => {
  const folder = await createFolder()
  const config = readConfig({ ...BASE, DATABASE_URL: `sqlite:${toListFile(folder)}` })
  const site = new Proxy(config.site, {
    get(target, key) {
      if (key === 'accent') throw new Error('no accent')
      return Reflect.get(target, key)
    },
  })
  await expect(start({ ...config, site }, createLog('silent'))).rejects.toThrow('no accent')
  // A list that was not closed has a write-ahead log beside it.
  expect(await readdir(dirname(toListFile(folder)))).toEqual(['rollcall.db'])
})

test.concurrent.each([
  ['203.0.113.9', 'no network of this machine has this address'],
  ['nobody.invalid', 'the name leads to no address of this machine'],
  // A link-local address needs the name of its network.
  ['fe80::1', 'the system does not allow this address (EINVAL)'],
])('HOST=%s: %s', async (host, reason) => {
  const advice = 'set HOST to 127.0.0.1 for this machine only, or to 0.0.0.0 for every network'
  const line = `cannot listen on ${host} port 0: ${reason}: ${advice}`
  const env = { HOST: host, PORT: '0', BASE_URL: 'http://a.example' }
  expect(await refuse(await createFolder(), env)).toEqual({ code: 1, line })
})

test.concurrent('a mistake in the settings or in the site file stops the start', async () => {
  const folder = await createFolder()
  const port = { code: 2, line: expect.stringContaining('PORT is "http": use a port number') }
  expect(await refuse(folder, { PORT: 'http' })).toEqual(port)
  expect(await readdir(folder)).toEqual([])
  await writeFile(join(folder, 'site.yaml'), 'name: News\ndescripton: Of the village\n')
  const key = { code: 2, line: expect.stringMatching(/^site\.yaml:2: unknown key "descripton".*description/) }
  expect(await refuse(folder, {})).toEqual(key)
  expect(await readdir(folder)).toEqual(['site.yaml'])
})

type Create = (file: string) => unknown

/** Changes a database by SQL. Closing it leaves no other file. */
const alter =
  (sql: string): Create =>
  (file) => {
    using db = new Database(file, { create: true })
    db.run(sql)
  }

/** Files that are not a list of this version, each with what the line says. */
const STRANGERS: Readonly<Record<string, readonly [create: Create, says: string]>> = {
  'a list of a newer version': [
    async (file) => {
      await openSqliteStore(file, { access: 'create' }).close()
      alter('PRAGMA user_version = 99')(file)
    },
    'its schema is version 99, and this Rollcall uses version 1',
  ],
  garbage: [(file) => writeFile(file, crypto.getRandomValues(new Uint8Array(8192))), 'it is not a database'],
  'the database of another application': [
    alter('CREATE TABLE t (x); PRAGMA application_id = 7; PRAGMA user_version = 1'),
    'it is a database, but not a list of Rollcall',
  ],
  'a database that names no application': [alter('CREATE TABLE t (x)'), 'it is a database, but not a list of Rollcall'],
  'a damaged list': [
    async (file) => {
      await openSqliteStore(file, { access: 'create' }).close()
      await writeFile(file, (await Bun.file(file).bytes()).fill(7, 4096))
    },
    'it is damaged, or the disk cannot read it',
  ],
}
test.concurrent.each(Object.entries(STRANGERS))(
  'the start fails on %s, which is not changed',
  async (_, [create, says]) => {
    const folder = await createFolder()
    const file = toListFile(folder)
    await mkdir(join(folder, 'data'))
    await create(file)
    const read = async () => [await Bun.file(file).bytes(), await readdir(join(folder, 'data'))]
    const before = await read()
    expect(await refuse(folder, {})).toEqual({
      code: 1,
      line: expect.stringContaining(`${file} cannot be used: ${says}`),
    })
    expect(await read()).toEqual(before)
  },
)

// Nobody can write to /proc, not even root.
test.concurrent.each([
  ['/proc', 'it is a folder: name a file'],
  ['/proc/list.db', 'it cannot be created'],
  ['/proc/lists/list.db', 'it cannot be created'],
  ['/proc/version/list.db', '/proc/version is not a folder: correct the path'],
  ['/proc/version', process.getuid?.() === 0 ? 'unable to open database file' : 'permission denied: '],
])('the start fails when the path of the list is %s: %s', async (file, says) => {
  const folder = await createFolder()
  const line = `the list ${file} cannot be used: ${says}`
  const refused = await refuse(folder, { DATABASE_URL: `sqlite:${file}` })
  expect(refused).toEqual({ code: 1, line: expect.stringContaining(line) })
  expect(await readdir(folder)).toEqual([])
})

test.concurrent('an empty file, which a crash right after its creation leaves, becomes a list', async () => {
  const folder = await createFolder()
  await mkdir(join(folder, 'data'))
  await writeFile(toListFile(folder), '')
  const service = await startService({ folder })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  await service.stop()
  expect(await readList(folder)).toEqual(['ada@example.org'])
})

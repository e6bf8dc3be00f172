/** A list whose files were moved is not changed, and another list is not damaged. A service: test/service/lost-file.test.ts. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivateFile } from '../../../src/files.ts'
import { createLog } from '../../../src/log.ts'
import { toReason } from '../../../src/store/sqlite/error.ts'
import { fillFile } from '../../../src/store/sqlite/fill.ts'
import { createListFile } from '../../../src/store/sqlite/restore.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { openSqliteThread } from '../../../src/store/sqlite/thread.ts'
import type { SubscriberStore } from '../../../src/subscriber.ts'
import { addAndEnd } from '../../support/list-file.ts'
import { runCommand, startCommand } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { createFolder } from '../../support/workspace.ts'
import { toAddress } from '../suite.ts'

const ADA = toAddress('ada@site.io')

const CALLS: Readonly<Record<string, (store: SubscriberStore) => Promise<unknown>>> = {
  import: (store) => store.import([{ email: ADA }]),
  remove: (store) => store.remove([ADA], { suppress: true }),
  suppress: (store) => store.suppress([{ email: ADA }], { removeUndated: true }),
}

test.each(Object.entries(CALLS))('%s fails while the file is not at its path', async (_, call) => {
  const file = join(await realpath(await createFolder()), 'list.db')
  const store = openSqliteStore(file, { access: 'create' })
  await call(store)
  renameSync(file, `${file}.away`)
  const message = `the list is lost: ${file} was deleted or moved`
  for (let turn = 0; turn < 2; turn++) await expect(call(store)).rejects.toThrow(message)
  renameSync(`${file}.away`, file)
  await call(store)
  await store.close()
})

const LOSSES: Readonly<Record<string, (folder: string) => void>> = {
  'another file is at list.db': (folder) => {
    writeFileSync(join(folder, 'other.db'), '')
    renameSync(join(folder, 'other.db'), join(folder, 'list.db'))
  },
  'list.db-wal was deleted': (folder) => rmSync(join(folder, 'list.db-wal')),
  'list.db-shm was deleted': (folder) => rmSync(join(folder, 'list.db-shm')),
  'another folder is in its place': (folder) => {
    renameSync(folder, `${folder}-away`)
    mkdirSync(folder)
  },
}

test.each(Object.entries(LOSSES))(
  '%s: a commit fails, and closing deletes no log of another list',
  async (name, lose) => {
    const folder = join(await realpath(await createFolder()), 'data')
    const store = openSqliteStore(join(folder, 'list.db'), { access: 'create' })
    for (let turn = 0; turn < 3; turn++) await store.add([ADA])
    lose(folder)
    await expect(store.add([ADA]), name).rejects.toThrow('the list is lost')
    const log = join(folder, 'list.db-wal')
    mkdirSync(folder, { recursive: true })
    if (!existsSync(log)) writeFileSync(log, 'of another list')
    await store.close()
    expect(existsSync(log)).toBe(true)
  },
)

test('a command that comes while a lost list is rescued does not confirm its address', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  const store = await openSqliteThread(file, createLog('silent'))
  await store.add([ADA])
  renameSync(file, `${file}.away`)
  const [added, measured] = await Promise.allSettled([store.add([ADA]), store.measure()])
  expect([added.status, measured.status]).toEqual(['rejected', 'fulfilled'])
  await store.close()
})

test('the end of a service whose list is lost deletes no log of another list', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  const store = await openSqliteThread(file, createLog('silent'))
  await store.add([ADA])
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix)
  writeFileSync(`${file}-wal`, 'of another list')
  await store.close()
  // The time is the subject: SQLite would delete it when the thread ends, which nothing else shows.
  await expect(until(() => !existsSync(`${file}-wal`), 'the log is deleted', 1_000)).rejects.toThrow('waited 1 s')
})

test('the index of the log was deleted: what another process confirms then stays', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.add([ADA])
  rmSync(`${file}-shm`)
  await addAndEnd('close', file, 'bob@site.io')
  const message = `the list is lost: another file is at ${file}-shm`
  await expect(store.count()).rejects.toThrow(message)
  await expect(store.add([toAddress('cyd@site.io')])).rejects.toThrow(message)
  await store.close()
  const { stdout } = await runCommand(['export', '--format', 'txt', '--list', `sqlite:${file}`])
  expect(stdout).toBe(`${ADA}\nbob@site.io\n`)
})

test('another process creates a list at the target of a copy: what it confirms stays', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  const head = { id: '0'.repeat(16), suppressionKey: new Uint8Array(32), lastSeq: 1, clockSeq: 1 }
  async function* readSubscribers() {
    await addAndEnd('close', file, 'bob@site.io')
    yield [{ seq: 1, email: ADA, subscribedAt: new Date() }]
  }
  async function* readSuppressions() {}
  const copy = { head, subscribers: readSubscribers(), suppressions: readSuppressions() }
  const { signal } = new AbortController()
  await expect(createListFile(file, (partial) => fillFile(partial, copy, signal))).rejects.toThrow('is not empty')
  const { stdout } = await runCommand(['export', '--format', 'txt', '--list', `sqlite:${file}`])
  expect(stdout).toBe('bob@site.io\n')
})

test('a symbolic link is changed: what is added then is not confirmed', async () => {
  const folder = await realpath(await createFolder())
  const link = join(folder, 'list.db')
  symlinkSync('one.db', link)
  const store = openSqliteStore(link, { access: 'create' })
  await store.add([ADA])
  rmSync(link)
  symlinkSync('two.db', link)
  await expect(store.add([ADA])).rejects.toThrow(`the list is lost: ${link} was deleted or moved`)
  await addAndEnd('close', link, ADA)
  await expect(store.add([ADA])).rejects.toThrow(`the list is lost: another file is at ${link}`)
  await store.close()
})

test('the garbage collector does not close a lost list: that would delete the log of another one', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  async function lose(): Promise<void> {
    const store = openSqliteStore(file, { access: 'create' })
    await store.add([ADA])
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix)
    writeFileSync(`${file}-wal`, 'of another list')
    await store.close()
  }
  await lose()
  for (let turn = 0; turn < 10; turn++) {
    Bun.gc(true)
    await Bun.sleep(1)
  }
  expect(existsSync(`${file}-wal`)).toBe(true)
})

test('a list that is replaced while a command opens it: the error says so, and its log stays', async () => {
  const file = join(await realpath(await createFolder()), 'list.db')
  await addAndEnd('close', file, ADA)
  // As restore does.
  const holder = new Database(file)
  holder.run('PRAGMA locking_mode = EXCLUSIVE')
  holder.run('BEGIN EXCLUSIVE')
  const { process: child, ended } = startCommand(['count', '--list', `sqlite:${file}`])
  await until(() => isWrittenBy(child.pid, file), 'SQLite opens the list in the command')
  writeFileSync(`${file}.new`, 'another list')
  renameSync(`${file}.new`, file)
  writeFileSync(`${file}-wal`, 'its log')
  holder.close()
  const { code, stderr } = await ended
  expect([code, stderr]).toEqual([1, `rollcall: ${file} was replaced while it was opened: start again\n`])
  expect(existsSync(`${file}-wal`)).toBe(true)
})

/** Whether a process has opened a file for writing. It looks at a list for reading before SQLite opens it. */
function isWrittenBy(pid: number, file: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((name) => {
    try {
      const isFile = readlinkSync(`/proc/${pid}/fd/${name}`) === file
      return isFile && /^flags:\s+\d*2$/m.test(readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8'))
    } catch {
      // It was closed meanwhile.
      return false
    }
  })
}

test('SQLite refuses to write to a database that was moved, and the reason says so', async () => {
  const file = join(await createFolder(), 'list.db')
  using db = new Database(file)
  db.run('CREATE TABLE t (x)')
  renameSync(file, `${file}.away`)
  let error: unknown
  try {
    db.run('INSERT INTO t VALUES (1)')
  } catch (thrown) {
    error = thrown
  }
  expect(toReason(error)).toBe('another file is at its path now, as after a restore: start again')
})

test('a copy without a folder for temporary files says what to set', () => {
  const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_GETTEMPPATH' })
  expect(toReason(error)).toBe('no folder for temporary files can be written: set TMPDIR to one')
})

test('a file that another process has just created stays as it is', async () => {
  const file = join(await createFolder(), 'list.db')
  createPrivateFile(file, { mayExist: true })
  writeFileSync(file, 'of the other process')
  createPrivateFile(file, { mayExist: true })
  expect(readFileSync(file, 'utf8')).toBe('of the other process')
})

test.each(['-wal', '-shm', '-journal'])(
  'a list is refused whose link leads to a file that SQLite may delete: %s',
  async (suffix) => {
    const folder = await createFolder()
    const [target, link] = [join(folder, `other.db${suffix}`), join(folder, 'list.db')]
    symlinkSync(target, link)
    const message = `the list is "${target}": use a name that does not end in -wal, -shm or -journal`
    for (const prepare of [() => {}, () => writeFileSync(target, 'of another list')]) {
      prepare()
      expect(() => openSqliteStore(link, { access: 'create' })).toThrow(message)
      const restored = await runCommand(['restore', link, '--list', `sqlite:${folder}/new.db`])
      expect([restored.code, restored.stderr]).toEqual([2, expect.stringContaining(message)])
    }
    expect(readFileSync(target, 'utf8')).toBe('of another list')
    expect(readdirSync(folder).toSorted()).toEqual(['list.db', `other.db${suffix}`])
  },
)

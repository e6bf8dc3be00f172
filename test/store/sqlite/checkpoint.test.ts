/** When the log of a list is moved into it, and that nothing is written behind a write that failed. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checkClock } from '../../../src/store/numbers.ts'
import { endRun, keepLogShort, keepServiceLogShort, LOG_BYTES } from '../../../src/store/sqlite/checkpoint.ts'
import { closeList, type ListFile, openListFile, write } from '../../../src/store/sqlite/file.ts'
import { append } from '../../../src/store/sqlite/inbox.ts'
import { getRow } from '../../../src/store/sqlite/transaction.ts'
import { upgrade } from '../../../src/store/sqlite/upgrade.ts'
import { ROOT } from '../../support/paths.ts'
import { createFolder } from '../../support/workspace.ts'

/** Opens a new list, which does not wait for the disk. */
async function openList(): Promise<{ readonly list: ListFile; readonly file: string }> {
  const file = join(await createFolder(), 'list.db')
  const list = openListFile(file)
  onTestFinished(() => void closeList(list))
  list.db.run('PRAGMA synchronous = OFF')
  return { list, file }
}

function addOne({ db, state }: ListFile, index: number): void {
  append(db, JSON.stringify([`user.${index}@site.io`]))
  state.commits++
}

/** The pages of the log, and how many of them are in the list. */
function countPages({ db }: ListFile) {
  return getRow<{ log: number; checkpointed: number }>(db, 'PRAGMA wal_checkpoint(NOOP)')
}

/** A reader that needs what is in the log now. */
function startReader(file: string): Database {
  const reader = new Database(file, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM inbox').get()
  return reader
}

test('no commit moves the log, however long it is', async () => {
  const { list } = await openList()
  for (let index = 0; index < 2_500; index++) addOne(list, index)
  const { log, checkpointed } = countPages(list)
  expect(log).toBeGreaterThan(2_500)
  expect(checkpointed).toBe(0)
})

test('the end of a run of compaction moves the log after 128 commits, and counts them anew', async () => {
  const { list } = await openList()
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 127; index++) addOne(list, index)
    endRun(list)
    expect(countPages(list).checkpointed).toBe(0)
    addOne(list, 127)
    endRun(list)
    const { log, checkpointed } = countPages(list)
    expect(checkpointed).toBe(log)
    expect(list.state.commits).toBe(0)
    // The next commit begins the log again.
    append(list.db, '["user.128@site.io"]')
  }
})

test('a long log is moved, unless a reader holds it', async () => {
  const { list, file } = await openList()
  for (let index = 0; index < 50; index++) addOne(list, index)
  expect(keepLogShort(list, 1_000)).toBe('short')
  expect(countPages(list).checkpointed).toBe(0)
  const reader = startReader(file)
  for (let index = 50; index < 200; index++) addOne(list, index)
  expect(keepLogShort(list, 100)).toBe('held')
  reader.close()
  expect(keepLogShort(list, 100)).toBe('moved')
  const { log, checkpointed } = countPages(list)
  expect(checkpointed).toBe(log)
})

test('a service moves the log at the number of pages that it drew, and then draws another one', async () => {
  const { list } = await openList()
  expect(list.state.servicePages).toBeWithin(1_000, 2_000)
  list.state.servicePages = 1_900
  for (let index = 0; countPages(list).log < 1_800; index++) addOne(list, index)
  // It looks after each reply: a number that is drawn at each look would be reached.
  for (let look = 0; look < 100; look++) expect(keepServiceLogShort(list)).toBe(false)
  expect(countPages(list).checkpointed).toBe(0)
  expect(list.state.servicePages).toBe(1_900)
  for (let index = 2_000; countPages(list).log < 1_900; index++) addOne(list, index)
  expect(keepServiceLogShort(list)).toBe(false)
  const { log, checkpointed } = countPages(list)
  expect(checkpointed).toBe(log)
  expect(list.state.servicePages).not.toBe(1_900)
})

test('after a write that failed, the log is moved and truncated before the next write', async () => {
  const { list, file } = await openList()
  for (let index = 0; index < 20; index++) addOne(list, index)
  const fail = () => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
  }
  expect(() => write(list, fail)).toThrow('disk I/O error')
  const reader = startReader(file)
  let isWritten = false
  const work = () => {
    isWritten = true
    expect(statSync(`${file}-wal`).size).toBe(0)
  }
  expect(() => write(list, work)).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }))
  expect(isWritten).toBe(false)
  reader.close()
  write(list, work)
  expect(isWritten).toBe(true)
  addOne(list, 20)
  expect(getRow<{ rows: number }>(list.db, 'SELECT count(*) AS rows FROM inbox').rows).toBe(21)
})

test('a lock that others hold is no failed write', async () => {
  const { list, file } = await openList()
  addOne(list, 0)
  using other = new Database(file)
  other.run('BEGIN IMMEDIATE')
  expect(() => write(list, () => addOne(list, 1))).toThrow('locked')
  other.run('ROLLBACK')
  write(list, () => expect(statSync(`${file}-wal`).size).toBeGreaterThan(0))
})

test('what Rollcall refuses itself, such as a wrong clock, is no failed write', async () => {
  const { list, file } = await openList()
  addOne(list, 0)
  expect(() => write(list, () => checkClock(0))).toThrow('the clock is before 2026')
  expect(list.state.unsound).toBeUndefined()
  // A log in doubt would be truncated first.
  write(list, () => expect(statSync(`${file}-wal`).size).toBeGreaterThan(0))
})

/** Leaves a list with a log, as a service does that is killed. */
async function leaveLog(): Promise<string> {
  const file = join(await createFolder(), 'list.db')
  const script = `
    import { openListFile } from '${ROOT}/src/store/sqlite/file.ts'
    import { append } from '${ROOT}/src/store/sqlite/inbox.ts'
    append(openListFile(process.argv[1]).db, '["left@site.io"]')
    process.kill(process.pid, 'SIGKILL')
  `
  await Bun.spawn([process.execPath, '-e', script, file]).exited
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  return file
}

test.each(['serve', 'change', 'read'] as const)(
  'whoever opens a list first moves the log that is left: %s',
  async (access) => {
    const file = await leaveLog()
    const list = openListFile(file, access)
    onTestFinished(() => void closeList(list))
    expect(statSync(`${file}-wal`).size).toBe(0)
    expect(getRow<{ rows: number }>(list.db, 'SELECT count(*) AS rows FROM inbox').rows).toBe(1)
  },
)

test('the log of a list that others use stays as it is', async () => {
  const file = await leaveLog()
  const other = openListFile(file)
  onTestFinished(() => void closeList(other))
  addOne(other, 0)
  const list = openListFile(file, 'change')
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  expect(list.state.unsound).toBeUndefined()
  closeList(list)
})

test('after a write that failed, copies are forgotten at once, and not at the next write', async () => {
  const { list } = await openList()
  addOne(list, 0)
  const fail = () => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
  }
  expect(() => write(list, fail)).toThrow('disk I/O error')
  expect(list.state.unsound).toBe('forgotten')
})

test('a write that failed leaves no file open', async () => {
  const { list } = await openList()
  const fail = () => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
  }
  const countOpen = () => readdirSync('/proc/self/fd').length
  addOne(list, 0)
  // The first one opens the list for good: see keepDescriptor.
  expect(() => write(list, fail)).toThrow('disk I/O error')
  const before = countOpen()
  for (let index = 1; index < 20; index++) {
    write(list, () => addOne(list, index))
    expect(() => write(list, fail)).toThrow('disk I/O error')
  }
  expect(countOpen()).toBeLessThan(before + 10)
})

test('after a burst, the log gives its space back', async () => {
  const { list, file } = await openList()
  const size = () => statSync(`${file}-wal`).size
  while (size() <= LOG_BYTES + 2 ** 20) list.db.run('UPDATE list SET last_seq = last_seq + 1')
  expect(keepLogShort(list, 1)).toBe('moved')
  // The next commit begins the log again.
  addOne(list, 0)
  expect(size()).toBeLessThanOrEqual(LOG_BYTES)
})

test('what is sorted stays in memory, because the folder of temporary files may be full', async () => {
  const { list } = await openList()
  expect(getRow<{ temp_store: number }>(list.db, 'PRAGMA temp_store').temp_store).toBe(2)
})

test('a migration, too, begins only when the log is sound', async () => {
  const list = openListFile(join(await createFolder(), 'list.db'))
  // As after the start of a service that could not move the log of another one.
  list.state.unsound = 'copied'
  await upgrade(list)
  expect(list.state.unsound).toBeUndefined()
  closeList(list)
})

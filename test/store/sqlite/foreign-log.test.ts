/** A log (WAL) of another list next to a list: it is never played back, and never deleted. A log after a crash is. */

import { expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { refuseForeignLog } from '../../../src/store/sqlite/paths.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { addAndEnd, readListFile } from '../../support/list-file.ts'
import { runCommand } from '../../support/service.ts'
import { createFolder } from '../../support/workspace.ts'
import { toAddress, toAddresses } from '../suite.ts'

const root = await realpath(await createFolder())

const createPath = async () => join(await mkdtemp(join(root, 'list-')), 'list.db')

/** Creates a list that no process uses. */
async function createClosed(file: string, ...emails: string[]): Promise<void> {
  const store = openSqliteStore(file, { access: 'create' })
  await store.add(toAddresses(...emails))
  await store.close()
}

/** Creates a list whose process was killed: its last address is in the log only. */
async function createKilled(): Promise<string> {
  const file = await createPath()
  await createClosed(file, 'ada@site.io')
  await addAndEnd('kill', file, 'bob@site.io')
  return file
}

async function createBackup(file: string): Promise<string> {
  const target = `${file}.backup`
  const { code, stderr } = await runCommand(['backup', target, '--list', `sqlite:${file}`])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return target
}

/** Other files that may come to the path of a list whose process was killed. */
const STRANGERS: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  'a backup of the list is copied over it': async (file) => {
    const copy = `${file}.copy`
    for (const suffix of ['', '-wal']) copyFileSync(file + suffix, copy + suffix)
    copyFileSync(await createBackup(copy), file)
  },
  'a backup of another list is copied over it': async (file) => {
    const other = await createPath()
    await createClosed(other, 'cyd@site.io')
    copyFileSync(await createBackup(other), file)
  },
  'it is deleted': async (file) => rmSync(file),
}

test.each(Object.entries(STRANGERS))('%s: it is not opened, and nothing is changed', async (_, replace) => {
  const file = await createKilled()
  await replace(file)
  const read = () => ['', '-wal'].map((suffix) => existsSync(file + suffix) && readFileSync(file + suffix))
  const before = read()
  const message = `the list ${file} cannot be used: ${file}-wal is the write-ahead log of another list, which was here before; stop every process`
  expect(() => openSqliteStore(file, { access: 'create' })).toThrow(message)
  expect(read()).toEqual(before)
  // The advice of the message.
  renameSync(`${file}-wal`, `${file}-kept`)
  await createClosed(file, 'new@site.io')
  expect(await readListFile(file)).toContain('new@site.io')
})

test('the folder of a symbolic link has no log: the one next to the real file counts', async () => {
  const file = await createKilled()
  const link = `${file}.link`
  symlinkSync(file, link)
  writeFileSync(`${link}-wal`, 'not the log')
  expect(await readListFile(link)).toEqual(['ada@site.io', 'bob@site.io'])
  await addAndEnd('kill', file, 'cyd@site.io')
  rmSync(file)
  expect(() => openSqliteStore(link, { access: 'create' })).toThrow(
    `${file}-wal is the write-ahead log of another list`,
  )
})

test('processes that create, open, close and are killed at once lose nothing, and find no foreign log', async () => {
  const file = await createPath()
  const children = Array.from({ length: 12 }, (_, index) => ({ index, email: `user.${index}@site.io` }))
  const writers = children.map(async ({ index, email }) => {
    await addAndEnd(index % 2 ? 'close' : 'kill', file, email)
  })
  await Promise.all(writers)
  expect((await readListFile(file)).toSorted()).toEqual(children.map(({ email }) => email).toSorted())
})

/** Counts the locks that this process holds on a file (proc_locks(5)). */
function countLocks(file: string): number {
  const { ino } = statSync(file)
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  return lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length
}

test('a connection keeps its locks when its process looks at the file, and closes another connection', async () => {
  const file = await createPath()
  const one = openSqliteStore(file, { access: 'create' })
  await one.add([toAddress('ada@site.io')])
  expect(countLocks(file)).toBeGreaterThan(0)
  refuseForeignLog(file)
  await openSqliteStore(file, { access: 'create' }).close()
  expect(countLocks(file)).toBeGreaterThan(0)
  await one.close()
  expect(countLocks(file)).toBe(0)
})

test('a symbolic link to itself is refused', async () => {
  const file = await createPath()
  symlinkSync(file, file)
  expect(() => openSqliteStore(file, { access: 'create' })).toThrow(
    `the list ${file} cannot be used: it is a link to itself`,
  )
})

/** A list whose file was moved confirms nothing. A service with such a list is in test/service/lost-file.test.ts. */

import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { emailsOf, listAll, toAddress } from '../../support/store-suite.ts'

const ADA = toAddress('ada@site.io')

async function createPlace(): Promise<string> {
  const folder = await realpath(await createFolder())
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

const CALLS: Readonly<Record<string, (store: SqliteStore) => Promise<unknown>>> = {
  add: (store) => store.add([ADA]),
  import: (store) => store.import([{ email: ADA }]),
  remove: (store) => store.remove([ADA], { suppress: true }),
  mergeSuppressions: (store) =>
    store.mergeSuppressions([{ key: new Uint8Array(32), hash: new Uint8Array(32), suppressedAt: new Date() }]),
  check: (store) => store.check(),
  compactFor: async (store) => store.compactFor(1),
}

test.each(Object.entries(CALLS))('%s fails while the file is not at its path', async (_, call) => {
  const folder = await createPlace()
  const file = join(folder, 'list.db')
  const store = openSqliteStore(file)
  await call(store)
  renameSync(file, `${file}.away`)
  const message = `the list is lost: ${file} was deleted or moved`
  for (let turn = 0; turn < 2; turn++) await expect(call(store)).rejects.toThrow(message)
  renameSync(`${file}.away`, file)
  await call(store)
  await store.close()
})

/** Longer than it takes until a folder counts as settled: see Place. Then a commit looks at the folder only. */
const SETTLED_MS = 3_100

const LOSSES: Readonly<Record<string, (folder: string) => void>> = {
  'list.db was deleted': (folder) => rmSync(join(folder, 'list.db')),
  'another file is at list.db': (folder) => {
    writeFileSync(join(folder, 'other.db'), '')
    renameSync(join(folder, 'other.db'), join(folder, 'list.db'))
  },
  'list.db-wal was deleted': (folder) => rmSync(join(folder, 'list.db-wal')),
  'list.db-shm was deleted': (folder) => rmSync(join(folder, 'list.db-shm')),
  'the folder was moved': (folder) => renameSync(folder, `${folder}-away`),
  'another folder is in its place': (folder) => {
    renameSync(folder, `${folder}-away`)
    mkdirSync(folder)
  },
}

test('a commit after a time without changes in the folder fails too', async () => {
  const root = await createPlace()
  const lists = Object.entries(LOSSES).map(([name, lose], index) => {
    const folder = join(root, String(index))
    return { name, lose, folder, store: openSqliteStore(join(folder, 'list.db')) }
  })
  await Bun.sleep(SETTLED_MS)
  for (const { name, lose, folder, store } of lists) {
    for (let turn = 0; turn < 3; turn++) await store.add([ADA])
    lose(folder)
    const added = store.add([ADA]).then(
      () => 'a commit was confirmed',
      ({ message }) => message,
    )
    expect([name, await added]).toEqual([name, expect.stringContaining('the list is lost')])
    await store.close()
  }
})

test('nothing more is written to a list that is known to be lost', async () => {
  const folder = await createPlace()
  const file = join(folder, 'list.db')
  const store = openSqliteStore(file)
  renameSync(file, `${file}.away`)
  for (const name of ['first', 'second', 'third']) {
    await expect(store.add([toAddress(`${name}@site.io`)])).rejects.toThrow('the list is lost')
  }
  renameSync(`${file}.away`, file)
  expect(emailsOf(await listAll(store))).toEqual([toAddress('first@site.io')])
  await store.close()
})

test('a symbolic link that leads to another list', async () => {
  const folder = await createPlace()
  const [link, one, other] = ['list.db', 'one.db', 'other.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  symlinkSync(one, link)
  const store = openSqliteStore(link)
  await store.add([ADA])
  symlinkSync(other, `${link}.new`)
  renameSync(`${link}.new`, link)
  await expect(store.check()).rejects.toThrow(`the list is lost: ${link} leads to another file`)
  await store.close()
})

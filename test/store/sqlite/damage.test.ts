/**
 * A damaged list is not taken for a short one: with any page overwritten, a command that reads all of the list prints all of
 * it, or fails.
 */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyInto, copyUnchanged } from '../../../src/store/sqlite/backup.ts'
import { checkSqliteList } from '../../../src/store/sqlite/checks.ts'
import { PAGE_BYTES } from '../../../src/store/sqlite/file.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Subscriber, Suppression } from '../../../src/subscriber.ts'
import { runCommand } from '../../support/service.ts'
import { createFolder } from '../../support/workspace.ts'
import { createAddresses, listAll, listSuppressions } from '../suite.ts'

const folder = await createFolder()

/** What overwrites a page. */
const OVERWRITES: Readonly<Record<string, (pages: readonly Buffer[], index: number) => Buffer[]>> = {
  zeros: () => [Buffer.alloc(PAGE_BYTES)],
  'random bytes': () => [crypto.getRandomValues(Buffer.alloc(PAGE_BYTES))],
  'a copy of another page': (pages, index) => pages.filter((_, other) => other !== index),
}

const sound = await createSound()
const pages = Array.from({ length: sound.bytes.length / PAGE_BYTES }, (_, index) =>
  sound.bytes.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES),
)

test.each(Object.keys(OVERWRITES))('every page overwritten by %s', async (name) => {
  let [failed, tried] = [0, 0]
  for (const [index] of pages.entries()) {
    for (const page of OVERWRITES[name]?.(pages, index) ?? []) {
      const subscribers = await read(writeDamaged(index, page), listAll)
      const suppressions = await read(writeDamaged(index, page), listSuppressions)
      if (subscribers) expect([index, subscribers]).toEqual([index, sound.subscribers])
      if (suppressions) expect([index, suppressions]).toEqual([index, sound.suppressions])
      tried++
      if (!subscribers || !suppressions) failed++
    }
  }
  expect(failed).toBeGreaterThan(tried / 2)
})

test('doctor notices every overwritten page that holds a table', async () => {
  const missed: number[] = []
  for (const [index] of pages.entries()) {
    const results = await Array.fromAsync(checkSqliteList(writeDamaged(index, Buffer.alloc(PAGE_BYTES))))
    if (results.every(({ ok }) => ok)) missed.push(index)
  }
  expect(missed).toEqual([])
})

test('a list is not opened for writing when the first page of any table is damaged, so that nothing is confirmed', () => {
  const file = join(folder, 'damaged.db')
  writeFileSync(file, sound.bytes)
  const db = new Database(file, { readonly: true })
  const roots = db
    .query<{ name: string; page: number }, []>(`SELECT name, rootpage AS page FROM sqlite_schema WHERE type = 'table'`)
    .all()
  db.close()
  expect(roots.map(({ name }) => name).sort()).toEqual(['identities', 'inbox', 'list', 'subscribers', 'suppressions'])
  for (const { name, page } of roots) {
    const damaged = writeDamaged(page - 1, Buffer.alloc(PAGE_BYTES))
    expect(() => openSqliteStore(damaged, { access: 'change' }), name).toThrow('is damaged')
  }
})

/** A connection to a list on a disk that writes the copy of it wrong. */
class WrongDisk extends Database {
  readonly damage: (copy: string) => void

  constructor(file: string, damage: (copy: string) => void) {
    super(file, { readonly: true })
    this.damage = damage
  }

  override run(...args: Parameters<Database['run']>): ReturnType<Database['run']> {
    const result = super.run(...args)
    if (args[0] === 'VACUUM INTO ?') this.damage(String([args[1]].flat()[0]))
    return result
  }
}

test('a copy is read again, and is not taken for sound because its list is', () => {
  const file = join(folder, 'whole.db')
  writeFileSync(file, sound.bytes)
  using changed = new WrongDisk(file, (copy) => {
    using db = new Database(copy)
    db.run(`UPDATE subscribers SET email = 'other@site.io' WHERE seq = (SELECT max(seq) FROM subscribers)`)
  })
  expect(() => copyInto(changed, join(folder, 'changed.db'))).toThrow('an address differs between its two tables')
  // The backup before an upgrade, which is the way back.
  using torn = new WrongDisk(file, (copy) => {
    const bytes = readFileSync(copy)
    writeFileSync(copy, bytes.fill(0, bytes.length - PAGE_BYTES))
  })
  expect(() => copyUnchanged(torn, join(folder, 'torn.db'))).toThrow('is damaged')
})

test('a snapshot whose head is gone leaves no transaction open', async () => {
  const file = join(folder, 'no-snapshot.db')
  const store = openSqliteStore(file, { access: 'create' })
  using db = new Database(file)
  db.run('DELETE FROM list')
  await expect(store.snapshot()).rejects.toThrow('is damaged')
  db.run('CREATE TABLE other (x)')
  // A reader would keep the log from being emptied.
  expect(db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 })
  await store.close()
})

test('a list whose head is gone confirms no address', async () => {
  const file = join(folder, 'headless.db')
  const store = openSqliteStore(file, { access: 'create' })
  using db = new Database(file)
  db.run('DELETE FROM list')
  for (const accept of [() => store.probe(), () => store.add(createAddresses(1))]) {
    await expect(accept()).rejects.toThrow('is damaged: restore a sound backup (its head cannot be read)')
  }
  await store.close()
  const results = await Array.fromAsync(checkSqliteList(file))
  expect(results.filter(({ ok }) => !ok).map(({ check }) => check)).toContain('integrity')
})

test('doctor and backup notice one letter that changed in either table', async () => {
  const letters = [
    `UPDATE identities SET identity = replace(identity, '.io', '.in') WHERE seq = (SELECT max(seq) FROM subscribers)`,
    `UPDATE subscribers SET email = replace(email, '.io', '.in') WHERE seq = (SELECT max(seq) FROM subscribers)`,
  ]
  for (const statement of letters) {
    const file = join(folder, 'letter.db')
    writeFileSync(file, sound.bytes)
    const integrity = async () =>
      (await Array.fromAsync(checkSqliteList(file))).find(({ check }) => check === 'integrity')
    expect(await integrity()).toMatchObject({ ok: true })
    {
      using db = new Database(file)
      expect(db.run(statement).changes).toBe(1)
      // SQLite itself finds nothing.
      expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    }
    const message = 'an address differs between its two tables'
    expect(await integrity()).toMatchObject({ ok: false, message: expect.stringContaining(message) })
    const { code, stderr } = await runCommand(['backup', join(folder, 'copy.db'), '--list', `sqlite:${file}`])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  }
})

/** Creates a closed list of 2,000 subscribers and 600 suppressions. */
async function createSound() {
  const file = join(folder, 'sound.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.import(createAddresses(2000).map((email) => ({ email })))
  await store.suppress(
    createAddresses(2600)
      .slice(2000)
      .map((email) => ({ email })),
    { removeUndated: false },
  )
  const [subscribers, suppressions] = [await listAll(store), await listSuppressions(store)]
  await store.close()
  return { bytes: readFileSync(file), subscribers, suppressions }
}

function writeDamaged(index: number, page: Buffer): string {
  const file = join(folder, 'damaged.db')
  const bytes = Buffer.from(sound.bytes)
  page.copy(bytes, index * PAGE_BYTES)
  writeFileSync(file, bytes)
  return file
}

/** Opens a list as a command does, and reads it. Undefined when that fails. */
async function read<T extends readonly (Subscriber | Suppression)[]>(
  file: string,
  work: (store: ReturnType<typeof openSqliteStore>) => Promise<T>,
): Promise<T | undefined> {
  let store: ReturnType<typeof openSqliteStore> | undefined
  try {
    store = openSqliteStore(file, { access: 'read' })
    return await work(store)
  } catch {
    return undefined
  } finally {
    await store?.close()
  }
}

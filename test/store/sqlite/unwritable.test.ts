/** A list that cannot be written is read completely, with its inbox, and its files do not change. */

import { afterAll, describe, expect, onTestFinished, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { toSupportFile } from '../../support/paths.ts'
import {
  BOUND_BY_MODES,
  canMount,
  fillDisk,
  mountDisk,
  mountReadOnly,
  NO_SPACE,
  unmount,
} from '../../support/read-only.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses, toAddresses } from '../../support/store-suite.ts'

const root = await realpath(await createFolder())
afterAll(() => rm(root, { recursive: true }))

const ASKED = ['user.0@mail-0.io', 'LATER@site.io', 'back@site.io', 'left@site.io', 'nobody@site.io']

/** Where a list is, and how a process is started that cannot write there. */
interface Place {
  readonly needsMount?: boolean
  readonly launcher?: readonly string[]
  /** Prepares the folder before the list is in it. */
  readonly prepare?: (folder: string) => void
  /** Makes the list unwritable. */
  readonly close: (folder: string, other: string) => void
  /** Where a reader finds the list. Default: the folder. */
  readonly isElsewhere?: boolean
  /** A process may still write to files that exist: it compacts, or moves the log into the list, as far as it can. */
  readonly isPartly?: boolean
  readonly hasNoSpace?: boolean
}

const PLACES: Readonly<Record<string, Place>> = {
  'no write succeeds': { launcher: NO_SPACE, close() {}, hasNoSpace: true },
  'a full disk': { needsMount: true, prepare: mountDisk, close: (folder) => fillDisk(folder, 0), isPartly: true },
  // Enough to change the header of a list, and not for a log.
  'a nearly full disk': {
    needsMount: true,
    prepare: mountDisk,
    close: (folder) => fillDisk(folder, 12_288),
    isPartly: true,
  },
  'a read-only disk': { needsMount: true, close: mountReadOnly, isElsewhere: true },
  'a read-only folder': { launcher: BOUND_BY_MODES, close: (folder) => chmodSync(folder, 0o500), isPartly: true },
  'a read-only list': { launcher: BOUND_BY_MODES, close: closeFiles },
  'a read-only list in a read-only folder': {
    launcher: BOUND_BY_MODES,
    close(folder) {
      closeFiles(folder)
      chmodSync(folder, 0o500)
    },
  },
}

/** What a process did with the list before. Each state has addresses in its inbox. */
const STATES: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  closed: async (folder) => void (await (await createList(folder)).close()),
  'in use': async (folder) => {
    const store = await createList(folder)
    onTestFinished(() => store.close())
  },
  killed: (folder) => createKilled(folder, []),
  'killed, without the index of the log': (folder) => createKilled(folder, ['-shm']),
  'closed, but in WAL mode': (folder) => createKilled(folder, ['-shm', '-wal']),
}

const hasMounts = canMount(root)

describe.each(Object.entries(PLACES))('%s', (_, place) => {
  const isSkipped = place.needsMount === true && !hasMounts

  test.skipIf(isSkipped).each(Object.entries(STATES))('a list that is %s', async (state, make) => {
    const [folder, other, elsewhere] = (await Promise.all(
      ['place', 'other', 'elsewhere'].map((name) => mkdtemp(join(root, `${name}-`))),
    )) as [string, string, string]
    const target = place.isElsewhere ? elsewhere : folder
    if (place.needsMount) onTestFinished(() => unmount(target))
    place.prepare?.(folder)
    await make(folder)
    copy(folder, join(other, 'copy'))
    const expected = read({ file: join(other, 'copy/list.db') })
    expect(expected.problem).toBeNull()

    place.close(folder, elsewhere)
    const before = readFiles(folder)
    const backup = place.hasNoSpace ? '' : join(other, 'backup.db')
    const found = read({ file: join(target, 'list.db'), backup, launcher: place.launcher })
    expect(found.content).toEqual(expected.content)
    if (!place.isPartly) {
      expect(found.problem).not.toBeNull()
      expect(readFiles(folder)).toBe(before)
    }
    if (state === 'closed') expect(readMode(folder)).toBe('1')
    if (backup) expect(read({ file: backup }).content).toEqual(expected.content)
    // What is left is a complete list.
    copy(folder, join(other, 'left'))
    expect(read({ file: join(other, 'left/list.db') }).content).toEqual(expected.content)
  })
})

/** A list with addresses that are compacted, and others that wait: new ones, repeats, and one who comes back. */
async function createList(folder: string) {
  const store = openSqliteStore(join(folder, 'list.db'))
  await store.import(createAddresses(1500).map((email) => ({ email })))
  await store.remove(toAddresses('left@site.io', 'back@site.io'), { suppress: true })
  await store.add(toAddresses('Later@site.io', 'USER.1@mail-1.io', 'back@site.io', 'later@SITE.io'))
  await store.add(toAddresses('reserved@example.org', 'back@site.io', 'last@site.io'))
  return store
}

/** Copies the files of a list that is in use: a kill leaves the same. */
async function createKilled(folder: string, missing: readonly string[]): Promise<void> {
  const origin = join(await mkdtemp(join(root, 'origin-')), 'data')
  mkdirSync(origin)
  const store = await createList(origin)
  if (missing.includes('-wal')) await store.close()
  copy(`${origin}/.`, folder)
  await store.close()
  for (const suffix of missing) rmSync(join(folder, `list.db${suffix}`), { force: true })
}

interface ReadResult {
  readonly content: unknown
  readonly problem: string | null
}

function read({
  file,
  backup = '',
  launcher = [],
}: {
  file: string
  backup?: string
  launcher?: readonly string[] | undefined
}): ReadResult {
  const command = [...launcher, process.execPath, toSupportFile('list-reader.ts'), file, backup, ...ASKED]
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString()) as ReadResult
}

function closeFiles(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400)
}

// In a process of its own: to close a file here would drop the locks of this process, see held-file.ts.
function copy(from: string, to: string): void {
  Bun.spawnSync(['cp', '--recursive', from, to])
}

/** The content of the list and of its log. The index of the log has locks, and is made anew after a kill. */
function readFiles(folder: string): string {
  return Bun.spawnSync(['cksum', 'list.db', 'list.db-wal'], { cwd: folder }).stdout.toString()
}

/** The byte of the header that says whether the list is in WAL mode (2) or closed (1). */
function readMode(folder: string): string {
  return Bun.spawnSync(['od', '-An', '-tu1', '-j18', '-N1', 'list.db'], { cwd: folder }).stdout.toString().trim()
}

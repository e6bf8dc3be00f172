/** A list that cannot be written is read completely, with its inbox, and its files do not change. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openReadOnlyFile } from '../../../src/store/sqlite/read-only-file.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { StoreError } from '../../../src/subscriber.ts'
import { readProgress } from '../../support/list-file.ts'
import { CLI, toSupportFile } from '../../support/paths.ts'
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
  /** Default: all. */
  readonly states?: readonly string[]
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
    states: ['closed'],
  },
  'a read-only disk': { needsMount: true, close: mountReadOnly, isElsewhere: true },
  'a read-only folder': { launcher: BOUND_BY_MODES, close: (folder) => chmodSync(folder, 0o500), isPartly: true },
  'a read-only list': { launcher: BOUND_BY_MODES, close: closeFiles, states: ['in use', 'killed'] },
  'a read-only list in a read-only folder': {
    launcher: BOUND_BY_MODES,
    close(folder) {
      closeFiles(folder)
      chmodSync(folder, 0o500)
    },
  },
}

/** What a process did with the list before. Makes a folder from one with a list that is closed, and one that was killed. */
const STATES: Readonly<Record<string, (folder: string) => void>> = {
  closed: (folder) => copy(`${templates.closed}/.`, folder),
  'in use': (folder) => {
    copy(`${templates.closed}/.`, folder)
    const store = openSqliteStore(join(folder, 'list.db'))
    onTestFinished(() => store.close())
  },
  killed: (folder) => copy(`${templates.killed}/.`, folder),
  'killed, and has no index of its log': (folder) => {
    copy(`${templates.killed}/.`, folder)
    rmSync(join(folder, 'list.db-shm'))
  },
  'in WAL mode, without a log': (folder) => {
    copy(`${templates.checkpointed}/.`, folder)
    for (const suffix of ['-wal', '-shm']) rmSync(join(folder, `list.db${suffix}`))
  },
}

const templates = await createTemplates()
copy(templates.closed, join(root, 'writable'))
const { content: expected } = read({ file: join(root, 'writable/list.db') })
const hasMounts = canMount(root)

const CASES = Object.entries(PLACES).flatMap(([name, { states = Object.keys(STATES), ...place }]) =>
  states.map((state) => ({ name, place, state })),
)

const NAME = '$name: a list that is $state'
test.each(CASES.filter(({ place }) => !place.needsMount))(NAME, compare)
// Only root may mount a disk.
test.skipIf(!hasMounts).each(CASES.filter(({ place }) => place.needsMount))(NAME, compare)

async function compare({ place, state }: (typeof CASES)[number]): Promise<void> {
  const folder = await mkdtemp(join(root, 'place-'))
  const other = await mkdtemp(join(root, 'other-'))
  const target = place.isElsewhere ? await mkdtemp(join(root, 'view-')) : folder
  if (place.needsMount) onTestFinished(() => unmount(target))
  onTestFinished(() => chmodSync(folder, 0o700))
  place.prepare?.(folder)
  STATES[state]?.(folder)

  place.close(folder, target)
  const before = readFiles(folder)
  const backup = place.hasNoSpace ? '' : join(other, 'backup.db')
  const found = read({ file: join(target, 'list.db'), backup, launcher: place.launcher })
  expect(found.content).toEqual(expected)
  if (backup) expect(found.copied).toEqual(expected)
  if (state === 'closed') expect(readMode(folder)).toBe('1')
  if (!place.isPartly) {
    expect(found.problem).not.toBeNull()
    expect(readFiles(folder)).toBe(before)
    return
  }
  // What is left is a complete list.
  copy(`${folder}/.`, other)
  expect(read({ file: join(other, 'list.db') }).content).toEqual(expected)
}

test('every verb that reads works, and one that writes says why it cannot', async () => {
  const folder = await mkdtemp(join(root, 'verbs-'))
  copy(`${templates.killed}/.`, folder)
  closeFiles(folder)
  chmodSync(folder, 0o500)
  onTestFinished(() => chmodSync(folder, 0o700))
  const list = join(folder, 'list.db')
  const run = (...args: readonly string[]) => {
    const command = [...BOUND_BY_MODES, process.execPath, CLI, ...args, '--list', `sqlite:${list}`]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root })
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  expect(run('count')).toEqual({ exitCode: 0, stdout: '1504\n', stderr: '' })
  expect(run('has', 'last@site.io')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(run('export', '--format', 'txt').stdout.split('\n').slice(-4)).toEqual([
    'Later@site.io',
    'back@site.io',
    'last@site.io',
    '',
  ])
  expect(run('backup', 'verbs.db')).toEqual({ exitCode: 0, stdout: 'verbs.db: 1,504 addresses\n', stderr: '' })
  const status = run('status')
  expect(status.stdout).toContain('1,504, 1 of them reserved')
  expect(status.stdout).toMatch(/writable +no: /)
  const removal = run('remove', 'last@site.io')
  expect(removal.exitCode).toBe(1)
  expect(removal.stderr).toMatch(/^rollcall: .*list\.db.*: permission denied\n$/)
})

test('a list without locks is not read when another process changes it', async () => {
  const folder = await mkdtemp(join(root, 'changed-'))
  copy(`${templates.killed}/.`, folder)
  rmSync(join(folder, 'list.db-shm'))
  const file = join(folder, 'list.db')
  using db = openReadOnlyFile(file, new StoreError('the disk is full'))
  db.checkUnchanged()
  read({ file })
  expect(() => db.checkUnchanged()).toThrow(`the list ${file} was changed while it was read: run the command again`)
})

test('in the middle of compaction', async () => {
  const folder = await mkdtemp(join(root, 'compaction-'))
  const file = join(folder, 'list.db')
  const store = openSqliteStore(file)
  const addresses = createAddresses(6000)
  await store.import(addresses.slice(0, 1000).map((email) => ({ email })))
  // The last two thousand are on the list already, or in the inbox.
  const waiting = [...addresses.slice(1000), ...addresses.slice(0, 2000)]
  for (let start = 0; start < waiting.length; start += 100) await store.add(waiting.slice(start, start + 100))
  type Progress = ReturnType<typeof readProgress>
  const goals = [
    ({ indexed }: Progress) => indexed > 1000,
    ({ indexed, appended }: Progress) => indexed === 6000 && appended > 1000,
  ]
  for (const [index, isReached] of goals.entries()) {
    while (!isReached(readProgress(file))) expect(store.compactFor(0)).toBe(true)
    expect(readProgress(file)).toMatchObject(index === 0 ? { appended: 1000 } : { indexed: 6000 })
    expect(readProgress(file).appended).toBeLessThan(6000)
    const [killed, whole] = [join(folder, `killed-${index}`), join(folder, `whole-${index}`)]
    mkdirSync(killed)
    for (const name of ['list.db', 'list.db-wal']) copy(join(folder, name), killed)
    copy(killed, whole)
    const { content } = read({ file: join(killed, 'list.db'), launcher: NO_SPACE })
    expect(content).toEqual(read({ file: join(whole, 'list.db') }).content)
  }
  await store.close()
})

/** A list with addresses that are compacted, and others that wait: new ones, repeats, and one who comes back. */
async function createTemplates() {
  const [live, killed, checkpointed] = ['live', 'killed', 'checkpointed'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(live)
  const file = join(live, 'list.db')
  const store = openSqliteStore(file)
  await store.import(createAddresses(1500).map((email) => ({ email })))
  await store.remove(toAddresses('left@site.io', 'back@site.io'), { suppress: true })
  await store.add(toAddresses('Later@site.io', 'USER.1@mail-1.io', 'back@site.io', 'later@SITE.io'))
  await store.add(toAddresses('reserved@example.org', 'back@site.io', 'last@site.io'))
  // A kill leaves the files as they are.
  copy(live, killed)
  {
    using db = new Database(file)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  copy(live, checkpointed)
  await store.close()
  return { closed: live, killed, checkpointed }
}

interface ReadResult {
  readonly content: unknown
  readonly problem: string | null
  readonly copied: unknown
}

interface ReadOptions {
  readonly file: string
  readonly backup?: string
  readonly launcher?: readonly string[] | undefined
}

function read({ file, backup = '', launcher = [] }: ReadOptions): ReadResult {
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
  return Bun.spawnSync(['sh', '-c', 'cat list.db list.db-wal | cksum'], { cwd: folder }).stdout.toString()
}

/** The byte of the header that says whether the list is in WAL mode (2) or closed (1). */
function readMode(folder: string): string {
  return Bun.spawnSync(['od', '-An', '-tu1', '-j18', '-N1', 'list.db'], { cwd: folder }).stdout.toString().trim()
}

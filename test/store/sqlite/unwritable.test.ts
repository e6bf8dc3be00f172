/** A list that cannot be written can be read. What is not compacted is left out, and a note says how much that is. */

import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { BOUND_BY_MODES, NO_SPACE } from '../../support/disk.ts'
import { ROOT } from '../../support/paths.ts'
import { PROGRAM } from '../../support/program.ts'
import { createFolder } from '../../support/workspace.ts'
import { createAddresses, toAddresses } from '../suite.ts'

const root = await realpath(await createFolder())

/** Prints all that a list has, why it cannot be written, and the notes for the owner. */
const READER = `
  import { openStore } from '${ROOT}/src/store/open.ts'
  const [, file] = process.argv
  const notes = []
  const store = await openStore({ kind: 'sqlite', file }, { access: 'read', notify: (text) => notes.push(text) })
  const list = async (after) => (await Array.fromAsync(store.list(after))).flat()
  const asked = ['user.0@mail-0.io', 'LATER@site.io', 'back@site.io', 'left@site.io', 'nobody@site.io']
  const { bytes, freeBytes, ...status } = await store.status()
  await using snapshot = await store.snapshot()
  const lists = [(await Array.fromAsync(snapshot.subscribers)).flat(), await list(1200)]
  const content = { count: await store.count(), found: await store.lookUp(asked), lists, status }
  const problem = await store.ready().then(() => null, ({ message }) => message)
  await store.close()
  console.log(JSON.stringify({ content, problem, notes }))`

/** How a process is started that cannot write to a list. */
interface Place {
  readonly launcher: readonly string[]
  /** Makes the list unwritable. */
  readonly close: (folder: string) => void
  /** A process may still write to files that exist: it compacts, or moves the log into the list, as far as it can. */
  readonly isPartly?: boolean
  /** Default: all. */
  readonly states?: readonly string[]
}

const PLACES: Readonly<Record<string, Place>> = {
  'no write succeeds': { launcher: NO_SPACE, close() {} },
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
    const store = openSqliteStore(join(folder, 'list.db'), { access: 'create' })
    onTestFinished(() => store.close())
  },
  killed: (folder) => copy(`${templates.killed}/.`, folder),
  'killed, and has no index of its log': (folder) => {
    copy(`${templates.killed}/.`, folder)
    rmSync(join(folder, 'list.db-shm'))
  },
}

const templates = await createTemplates()
copy(templates.killed, join(root, 'complete'))
/** Without the inbox, and with it. */
const { content: compacted } = read(join(templates.compacted, 'list.db'))
const { content: complete } = read(join(root, 'complete/list.db'))
/** Addresses in the inbox of a list whose process was killed, and of one that is in use. */
const WAITING = 7

/** What a command says of an inbox that it leaves out, with the reason. */
const LEFT_OUT = new RegExp(
  `^not included: ${WAITING} addresses in the inbox: the list .*/list\\.db cannot be used: .+\\n?$`,
)

const CASES = Object.entries(PLACES).flatMap(([name, { states = Object.keys(STATES), ...place }]) =>
  states.map((state) => ({ name, place, state })),
)

test.each(CASES)('$name: a list that is $state', async ({ place, state }) => {
  const folder = await mkdtemp(join(root, 'place-'))
  const other = await mkdtemp(join(root, 'other-'))
  onTestFinished(() => chmodSync(folder, 0o700))
  STATES[state]?.(folder)

  place.close(folder)
  const before = readFiles(folder)
  const found = read(join(folder, 'list.db'), place.launcher)
  const isCompacted = found.notes.length > 0
  if (isCompacted) {
    expect(found.notes).toEqual([expect.stringMatching(LEFT_OUT)])
  }
  expect(found.content).toEqual(isCompacted ? compacted : complete)
  if (!place.isPartly) {
    expect(found.problem).not.toBeNull()
    expect(isCompacted).toBe(true)
    expect(readFiles(folder)).toBe(before)
    return
  }
  // What is left is a complete list.
  copy(`${folder}/.`, other)
  expect(read(join(other, 'list.db')).content).toEqual(complete)
})

test('every verb that reads works, and one that writes says why it cannot', async () => {
  const folder = await mkdtemp(join(root, 'verbs-'))
  copy(`${templates.killed}/.`, folder)
  closeFiles(folder)
  chmodSync(folder, 0o500)
  onTestFinished(() => chmodSync(folder, 0o700))
  const list = join(folder, 'list.db')
  const run = (...args: readonly string[]) => {
    const command = [...BOUND_BY_MODES, PROGRAM, ...args, '--list', `sqlite:${list}`]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root })
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  const stderr = expect.stringMatching(LEFT_OUT)
  // A script sees that addresses are left out.
  expect(run('count')).toEqual({ exitCode: 3, stdout: '1500\n', stderr })
  expect(run('has', 'user.1@mail-1.io')).toMatchObject({ exitCode: 0, stderr })
  expect(run('has', 'later@site.io')).toMatchObject({ exitCode: 3, stderr })
  const { exitCode, stdout } = run('export', '--format', 'txt')
  expect([exitCode, stdout.split('\n').slice(-2)]).toEqual([3, ['User.1499@mail-1.io', '']])
  expect(run('backup', 'verbs.db').stdout).toMatch(/^verbs\.db: 1,504 addresses/)
  // The backup can be written, so it has the addresses of the inbox too.
  expect(read(join(root, 'verbs.db')).content).toEqual(complete)
  const status = run('status')
  expect(status.stdout).toMatch(/addresses +1,500/)
  expect(status.stdout).toMatch(/writable +no: /)
  const removal = run('remove', 'last@site.io')
  expect(removal.exitCode).toBe(1)
  expect(removal.stderr).toMatch(
    /^rollcall: .*list\.db.*: permission denied: .*list\.db belongs to .*: run: chmod u\+rwX .*list\.db\n$/,
  )
})

/** A list with addresses that are compacted, and others that wait: new ones, repeats, and one who comes back. */
async function createTemplates() {
  const [live, killed, compacted] = [join(root, 'live'), join(root, 'killed'), join(root, 'compacted')]
  mkdirSync(live)
  const file = join(live, 'list.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.import(createAddresses(1500).map((email) => ({ email })))
  await store.remove(toAddresses('left@site.io', 'back@site.io'), { suppress: true })
  copy(live, compacted)
  await store.add(toAddresses('Later@site.io', 'USER.1@mail-1.io', 'back@site.io', 'later@SITE.io'))
  await store.add(toAddresses('reserved@example.org', 'back@site.io', 'last@site.io'))
  // A kill leaves the files as they are.
  copy(live, killed)
  await store.close()
  return { closed: live, killed, compacted }
}

interface ReadResult {
  readonly content: unknown
  readonly problem: string | null
  readonly notes: readonly string[]
}

function read(file: string, launcher: readonly string[] = []): ReadResult {
  const { success, stdout, stderr } = Bun.spawnSync([...launcher, process.execPath, '-e', READER, file])
  if (!success) throw new Error(stderr.toString())
  return JSON.parse(stdout.toString()) as ReadResult
}

function closeFiles(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400)
}

// In a process of its own: to close a file here would drop the locks of this process.
function copy(from: string, to: string): void {
  Bun.spawnSync(['cp', '--recursive', from, to])
}

/** The content of the list and of its log. The index of the log has locks, and is made anew after a kill. */
function readFiles(folder: string): string {
  return Bun.spawnSync(['sh', '-c', 'cat list.db list.db-wal | cksum'], { cwd: folder }).stdout.toString()
}

/**
 * Promise 6: a file that a command writes takes its name when all of it is on stable storage, and a cursor is written
 * after everything that it counts. Checked in the system calls of the command.
 */

import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { runCommand } from '../support/service.ts'
import { createSyncCounter, type SyncEvent } from '../support/sync-counter.ts'

interface CountedRun {
  readonly stdout: string
  readonly events: readonly SyncEvent[]
}

/** Runs a command to its end and returns the system calls it made. */
async function runCounted({ folder, list }: CliFixture, args: readonly string[]): Promise<CountedRun> {
  const counter = await createSyncCounter()
  const { code, stdout, stderr } = await runCommand(args, {
    folder,
    env: { ...counter.env, DATABASE_URL: list },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr })
  return { stdout, events: counter.events() }
}

/** A list with a few addresses, compacted, so that the command under test does not write it. */
async function createList(): Promise<CliFixture> {
  const fixture = await createCliFixture()
  const emails = Array.from({ length: 5 }, (_, index) => `ada${index}@mail.io\n`)
  await fixture.print(['import', await fixture.write('list.txt', `email\n${emails.join('')}`)])
  return fixture
}

/** A folder for the files of a command. SQLite syncs the folder of the list. */
async function createOutput({ folder }: CliFixture): Promise<string> {
  const output = join(await realpath(folder), 'out')
  await mkdir(output)
  return output
}

/** Says which calls concern the files in a folder, in order. A file under its temporary name is `NAME (partial)`. */
function toSteps(events: readonly SyncEvent[], folder: string): string[] {
  return events
    .filter(({ path }) => path.startsWith(folder) && !/list\.db|-journal$/.test(path))
    .map(({ call, ok, path }) => {
      const name = path === folder ? 'folder' : basename(path).replace(/^\.(.+)\.\d+\.partial$/, '$1 (partial)')
      return `${call} ${name}${ok ? '' : ' failed'}`
    })
}

/** The calls that give a file its name. */
const toReplacement = (name: string) => [`sync ${name} (partial)`, `rename ${name}`, 'sync folder']

/** Expects that the last sync before the rename found the file in its final size. */
async function expectWhole(events: readonly SyncEvent[], file: string): Promise<void> {
  const rename = events.findIndex(({ call, path }) => call === 'rename' && path === file)
  const synced = events
    .slice(0, rename)
    .findLast(({ call, path }) => call === 'sync' && path.includes(`.${basename(file)}.`))
  expect(synced?.bytes, `bytes of ${file} that were synced before its rename`).toBe((await stat(file)).size)
}

test('an export is synced, renamed, and its folder synced; its cursor follows', async () => {
  const fixture = await createList()
  const folder = await createOutput(fixture)
  const args = ['export', '--out', join(folder, 'out.csv'), '--cursor-file', join(folder, 'cursor')]
  const { events } = await runCounted(fixture, args)
  expect(toSteps(events, folder)).toEqual([...toReplacement('out.csv'), ...toReplacement('cursor')])
  await expectWhole(events, join(folder, 'out.csv'))
  await expectWhole(events, join(folder, 'cursor'))
  expect(await readFile(join(folder, 'cursor'), 'utf8')).toMatch(/^\d+ [0-9a-f]{16}\n$/)
})

test('an output is synced by the descriptor that wrote it: the system may not tell another one of a write that failed', async () => {
  const fixture = await createList()
  const folder = await createOutput(fixture)
  const args = ['export', '--out', join(folder, 'out.csv'), '--cursor-file', join(folder, 'cursor')]
  const { events } = await runCounted(fixture, args)
  const syncs = events.filter(({ call, path }) => call === 'sync' && path.endsWith('.partial'))
  expect(syncs.map(({ isWriter }) => isWriter)).toEqual([true, true])
})

test('a cursor is written after all of an export to standard output', async () => {
  const fixture = await createList()
  const folder = await createOutput(fixture)
  const { stdout, events } = await runCounted(fixture, ['export', '--cursor-file', join(folder, 'cursor')])
  const end = events.findLastIndex(({ call }) => call === 'write')
  const written = events.slice(0, end + 1).filter(({ call }) => call === 'write')
  expect(written.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(stdout.length)
  expect(toSteps(events.slice(end + 1), folder)).toEqual(toReplacement('cursor'))
})

test('a backup', async () => {
  const fixture = await createList()
  const folder = await createOutput(fixture)
  const { events } = await runCounted(fixture, ['backup', join(folder, 'copy.db')])
  expect(toSteps(events, folder).slice(-3)).toEqual(toReplacement('copy.db'))
  await expectWhole(events, join(folder, 'copy.db'))
})

test.each([
  ['sync', ['copy.db', 'list.db'], 'the disk reports an error'],
  ['late sync', ['copy.db', 'list.before-restore', 'list.db'], 'The earlier list is complete in'],
] as const)(
  'a restore that fails at a %s of the folder leaves the earlier list, and says where',
  async (call, files, says) => {
    const fixture = await createList()
    const { list, print } = fixture
    const folder = await realpath(fixture.folder)
    await print(['backup', 'copy.db'])
    await print(['remove', 'ada1@mail.io'])
    const counter = await createSyncCounter()
    counter.failCallsOf(call, folder)
    const env = { ...counter.env, DATABASE_URL: list }
    const { code, stderr } = await runCommand(['restore', 'copy.db'], { folder, env })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(says) })
    const names = (await readdir(folder)).filter((name) => name.endsWith('.db')).toSorted()
    expect(names.map((name) => name.replace(/-20.*/, ''))).toEqual([...files])
    // Under its name, or under the one that the error has.
    const earlier = /complete in (.*)\n/.exec(stderr)?.[1] ?? join(folder, 'list.db')
    expect(await print(['count', '--list', `sqlite:${earlier}`])).toBe('4\n')
  },
)

test.each(['sync', 'late sync'] as const)(
  'a copy and a backup that fail at a %s say so, and do it again',
  async (call) => {
    const fixture = await createList()
    const { list, print } = fixture
    const folder = await createOutput(fixture)
    const [copy, backup] = [join(folder, 'copy.db'), join(folder, 'backup.db')]
    for (const args of [
      ['copy', '--from', list, '--to', `sqlite:${copy}`],
      ['backup', backup],
    ]) {
      const counter = await createSyncCounter()
      counter.failCallsOf(call, folder)
      const env = { ...counter.env, DATABASE_URL: list }
      const { code, stderr } = await runCommand(args, { folder: fixture.folder, env })
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the disk reports an error') })
      if (stderr.includes('delete it')) await rm(copy)
      await print(args)
    }
    expect(await print(['count', '--list', `sqlite:${copy}`])).toBe('5\n')
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['backup.db', 'copy.db']))
  },
)

/** The header of the log (WAL) alone; a commit makes it longer: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const WAL_HEADER_BYTES = 32

test.each([[['import', 'more.txt']], [['remove', 'ada1@mail.io']]])(
  '%p prints its result after its commit is synced',
  async (args) => {
    const fixture = await createList()
    const wal = `${await realpath(fixture.folder)}/list.db-wal`
    await fixture.write('more.txt', 'email\nbob@mail.io\n')
    const { stdout, events } = await runCounted(fixture, args)
    expect(stdout).toContain(args[0] === 'import' ? '1' : 'ada1@mail.io')
    const before = events.slice(
      0,
      events.findIndex(({ call }) => call === 'write'),
    )
    const commits = before.filter(
      ({ call, path, bytes }) => call === 'sync' && path === wal && bytes > WAL_HEADER_BYTES,
    )
    expect(commits.length, 'syncs of the log before the result').toBeGreaterThan(0)
  },
)

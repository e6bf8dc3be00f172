/**
 * `npm run test:only -- faults`: makes the n-th system call of each kind fail, for each n, as the tests of SQLite do
 * (sqlite.org/testing.html, section 3.3), in real commands and in the start of a service. After each fault the promise holds: a list or
 * a file is the earlier one or the new one, complete; a cursor is that of what was confirmed; nothing is left behind; the command says
 * what failed, in one line without a stack; and the same command, without a fault, completes the work.
 *
 * Every call that one thread makes fails once. Some branches need more than one EIO: two errors in one run and an error of another kind are
 * below. A damaged list is in test/commands/restore.test.ts, a disk without owners in owners.test.ts, and the partial file of a process that
 * lives in files.test.ts beside it.
 */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { readListFile } from '../support/list-file.ts'
import { PROGRAM } from '../support/program.ts'
import { type CommandResult, type RunningService, runCommand, startService } from '../support/service.ts'
import { describeFaults, type Fault, type Trace, takeTrace, toFaults, toTracer } from '../support/strace.ts'
import { createFolder } from '../support/workspace.ts'

/** The calls that change files, or make them durable. The runtime makes none of them for itself. */
const CHANGES: Kinds = {
  calls: [
    ...['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'rename', 'renameat', 'renameat2', 'link', 'linkat'],
    ...['unlink', 'unlinkat', 'fchmod', 'fchown', 'chmod', 'mkdir', 'mkdirat'],
  ],
}

const WRITTEN = ['list.db', 'copy.db', 'out.txt', 'c']
const PARTIAL = WRITTEN.flatMap((name) => ['', '-journal', '-wal'].map((ending) => `.${name}.PID.partial${ending}`))

/** Calls that the runtime makes for itself all the time: they fail only where they concern one of these files. */
const COMMON: Kinds = {
  calls: ['openat', 'pread64', 'read', 'write'],
  files: ['', 'list.db', 'list.db-wal', 'list.db-journal', 'from.db', 'copy.db', 'out.txt', 'c', 'got', ...PARTIAL],
}

type Kinds = Pick<Trace, 'calls' | 'files'>

interface Operation {
  readonly name: string
  readonly args: readonly string[]
  readonly stdin?: string
  /** Makes the state before it. */
  readonly prepare: (fixture: CliFixture) => Promise<void>
  /** Checks the state after a run, whether it failed or not. */
  readonly check: (fixture: CliFixture, result: CommandResult) => Promise<void>
  /** Names that may be in the folder afterwards. */
  readonly leaves: RegExp
}

/** Runs a command under strace. Returns its result, and what strace wrote. */
async function trace(fixture: CliFixture, { args, stdin }: Operation, kinds: Kinds, fault?: Fault | readonly Fault[]) {
  const { folder, list } = fixture
  const program = [...toTracer({ folder, ...kinds, fault }), PROGRAM]
  const result = await runCommand(args, { program, stdin, folder, env: { DATABASE_URL: list } })
  return { result, text: await takeTrace(folder) }
}

async function prepareList({ print }: CliFixture): Promise<void> {
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
}

async function expectEmails(fixture: CliFixture, list: string, choices: readonly (readonly string[])[]): Promise<void> {
  const emails = (await fixture.rows(list)).map(({ email }) => email.replace('@site.io', '')).sort()
  expect(choices.map((choice) => choice.join(' '))).toContain(emails.join(' '))
}

const EARLIER = ['ada', 'bob']
const BOTH = ['ada', 'bob', 'cyn', 'dan']
const LIST = /^list\.db(?:-wal|-shm)?$/

const OPERATIONS: readonly Operation[] = [
  {
    name: 'export to a file',
    args: ['export', '--format', 'txt', '--out', 'out.txt'],
    prepare: async (fixture) => {
      await prepareList(fixture)
      await fixture.write('out.txt', 'earlier\n')
    },
    check: async ({ folder }, { code }) => {
      const text = readFileSync(join(folder, 'out.txt'), 'utf8')
      expect(code === 0 ? ['ada@site.io\nbob@site.io\n'] : ['earlier\n', 'ada@site.io\nbob@site.io\n']).toContain(text)
    },
    leaves: /^(?:list\.db(?:-wal|-shm)?|out\.txt)$/,
  },
  {
    name: 'import',
    args: ['import', '-', '--yes'],
    stdin: 'cyn@site.io\ndan@site.io\n',
    prepare: prepareList,
    check: (fixture, { code }) => expectEmails(fixture, fixture.list, code === 0 ? [BOTH] : [EARLIER, BOTH]),
    leaves: LIST,
  },
  {
    // The lock of a cursor file stays: see src/transfer/cursor-file.ts.
    name: 'hand-over',
    args: ['export', '--format', 'txt', '--cursor-file', 'c', '--exec', 'cat >> got'],
    prepare: prepareList,
    check: async ({ folder }, { code }) => {
      const got = existsSync(join(folder, 'got')) ? readFileSync(join(folder, 'got'), 'utf8') : ''
      const hasCursor = existsSync(join(folder, 'c'))
      // A cursor means that the command has confirmed all.
      if (hasCursor || code === 0) expect(got).toStartWith('ada@site.io\nbob@site.io\n')
      if (code === 0) expect(hasCursor).toBeTrue()
    },
    leaves: /^(?:list\.db(?:-wal|-shm)?|c|\.c\.lock|got)$/,
  },
  {
    name: 'backup',
    args: ['backup', 'copy.db'],
    prepare: prepareList,
    check: async (fixture, { code }) => {
      const isThere = existsSync(join(fixture.folder, 'copy.db'))
      if (code === 0) expect(isThere).toBeTrue()
      if (isThere) await expectEmails(fixture, `sqlite:${fixture.folder}/copy.db`, [EARLIER])
    },
    leaves: /^(?:list|copy)\.db(?:-wal|-shm)?$/,
  },
  {
    name: 'restore',
    args: ['restore', 'copy.db'],
    prepare: async (fixture) => {
      await prepareList(fixture)
      await fixture.print(['backup', 'copy.db'])
      await fixture.print(['import', '-'], 'cyn@site.io\ndan@site.io\n')
    },
    check: (fixture, { code }) => expectEmails(fixture, fixture.list, code === 0 ? [EARLIER] : [EARLIER, BOTH]),
    leaves: /^(?:list|copy)\.db(?:-wal|-shm|\.before-restore.*)?$|before/,
  },
  {
    name: 'copy',
    args: ['copy', '--from', 'sqlite:from.db', '--to', 'sqlite:list.db'],
    prepare: async (fixture) => {
      await prepareList(fixture)
      await fixture.shell('mv list.db from.db')
    },
    check: async (fixture, { code }) => {
      await expectEmails(fixture, `sqlite:${fixture.folder}/from.db`, [EARLIER])
      if (code === 0) await expectEmails(fixture, fixture.list, [EARLIER])
    },
    leaves: /^(?:list|from)\.db(?:-wal|-shm)?$/,
  },
]

/** What a person may see: one line of the program, or more notes before it, and no stack. */
function expectWords({ code, stderr }: CommandResult): void {
  if (code === 0) return
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^rollcall: .+\n/m)])
  expect(stderr).not.toMatch(/^ +at |\.ts:\d|node_modules/m)
}

/** Runs a command with a fault, and checks what it left. Then it runs again, without one. Returns whether the fault met a call. */
async function tryFault(operation: Operation, kinds: Kinds, fault: Fault): Promise<boolean> {
  const fixture = await createCliFixture()
  await operation.prepare(fixture)
  const { result, text } = await trace(fixture, operation, kinds, fault)
  try {
    expectWords(result)
    // What cannot be deleted stays. A partial file is private, and the next command that writes this file deletes it. A journal was
    // emptied before, so SQLite does not play it back, and deletes it.
    const leaves = fault.call.startsWith('unlink') ? [operation.leaves, /^\..+\.partial|-journal$/] : [operation.leaves]
    const names = readdirSync(fixture.folder).filter((entry) => !leaves.some((pattern) => pattern.test(entry)))
    expect(names).toEqual([])
    await operation.check(fixture, result)
    // A second time, without a fault, the work is done, or was done.
    const { folder, list } = fixture
    const again = await runCommand(operation.args, { folder, stdin: operation.stdin, env: { DATABASE_URL: list } })
    await operation.check(fixture, again)
    // The target of a copy is a list then.
    if (again.code !== 0) expect(again.stderr).toContain('the list to copy to is not empty')
  } catch (cause) {
    const place = `${operation.name}, after a fault in ${fault.call} ${fault.n}`
    throw new Error(`${place} (exit ${result.code}): ${result.stderr}`, { cause })
  }
  return text.includes('(INJECTED)')
}

test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', async (name, operation) => {
  console.log(name)
  for (const kinds of [CHANGES, COMMON]) {
    const first = await createCliFixture()
    await operation.prepare(first)
    const { result, text } = await trace(first, operation, kinds)
    expect([result.code, result.code === 0 ? '' : result.stderr]).toEqual([0, ''])
    const met = new Map<Fault, boolean>()
    for (const fault of toFaults(text, 'EIO')) met.set(fault, await tryFault(operation, kinds, fault))
    expect([...met.values()].filter(Boolean).length).toBeGreaterThan(3)
    console.log(describeFaults(text, met))
  }
})

const RESTORE = OPERATIONS.find(({ name }) => name === 'restore')!

/** Runs a restore with faults. Returns what it said, and the names in its folder. */
async function restoreWith(fault: Fault | readonly Fault[]) {
  const fixture = await createCliFixture()
  await RESTORE.prepare(fixture)
  const { result, text } = await trace(fixture, RESTORE, CHANGES, fault)
  expect(text).toContain('(INJECTED)')
  expectWords(result)
  return { fixture, stderr: result.stderr, text, names: readdirSync(fixture.folder) }
}

test('a restore on a file system without hard links says so, and the list stays', async () => {
  const { fixture, stderr, names } = await restoreWith({ call: 'link,linkat', n: 1, error: 'EPERM' })
  expect(stderr).toContain('has no hard links: move the list to another folder, and restore again')
  await expectEmails(fixture, fixture.list, [BOTH])
  expect(names.filter((name) => !RESTORE.leaves.test(name))).toEqual([])
})

test('a restore that fails, and whose undo fails, says where the list is complete', async () => {
  const renaming: Fault = { call: 'rename,renameat,renameat2', n: 1, error: 'EIO' }
  const removing = { call: 'unlink,unlinkat', error: 'EIO' }
  // A fault that never comes, to see which call takes the other name away.
  const { text } = await restoreWith([renaming, { ...removing, n: 65_535 }])
  const [, thread] = /^(\d+) +unlink.*before-restore/m.exec(text)!
  const own = text.split('\n').filter((line) => line.startsWith(`${thread} `) && line.includes(' unlink'))
  const n = own.findIndex((line) => line.includes('before-restore')) + 1
  const { fixture, stderr, names } = await restoreWith([renaming, { ...removing, n }])
  const [kept] = names.filter((name) => name.includes('before-restore'))
  expect(stderr).toContain(`; the list is complete in ${fixture.folder}/${kept}`)
  await expectEmails(fixture, `sqlite:${fixture.folder}/${kept}`, [BOTH])
  await expectEmails(fixture, fixture.list, [BOTH])
})

/** Starts a service on a new list. Returns what it says when it ends instead. */
async function start(folder: string, launcher: readonly string[] = []): Promise<RunningService | string> {
  const options = { folder, launcher, env: { DATABASE_URL: `sqlite:${folder}/list.db` } }
  return await startService(options).catch((error: unknown) => String(error))
}

/** Starts a service with a fault, and another one without. Returns whether the fault met a call. */
async function tryStart(kinds: Kinds, fault: Fault): Promise<boolean> {
  const folder = await createFolder()
  const name = `${fault.call} ${fault.n}`
  const service = await start(folder, toTracer({ folder, ...kinds, fault }))
  const kept: string[] = []
  if (typeof service === 'string') {
    // It ends at once, and says why.
    expect([name, service]).toEqual([name, expect.stringContaining('the service ended with 1: ')])
    expect([name, service]).not.toEqual([name, expect.stringMatching(/^ +at |\.ts:\d|"stack"/m)])
  } else {
    // A call may fail later, at the first address.
    const { status } = await service.subscribe('ada@site.io')
    expect([name, status]).toEqual([name, status === 200 ? 200 : 500])
    if (status === 200) kept.push('ada@site.io')
    await service.stop()
  }
  const text = await takeTrace(folder)
  const again = await start(folder)
  if (typeof again === 'string') throw new Error(`after a fault in ${name}: ${again}`)
  expect((await again.subscribe('bob@site.io')).status).toBe(200)
  await again.stop()
  expect([name, ...(await readListFile(`${folder}/list.db`))]).toEqual(
    expect.arrayContaining([name, ...kept, 'bob@site.io']),
  )
  const left = readdirSync(folder).filter((entry) => !LIST.test(entry))
  expect([name, ...left]).toEqual([name])
  return text.includes('(INJECTED)')
}

test('the start of a service', async () => {
  console.log('the start of a service')
  for (const kinds of [CHANGES, COMMON]) {
    const folder = await createFolder()
    const service = await start(folder, toTracer({ folder, ...kinds }))
    if (typeof service === 'string') throw new Error(service)
    await service.stop()
    const text = await takeTrace(folder)
    const met = new Map<Fault, boolean>()
    for (const fault of toFaults(text, 'EIO')) met.set(fault, await tryStart(kinds, fault))
    expect([...met.values()].filter(Boolean).length).toBeGreaterThan(3)
    console.log(describeFaults(text, met))
  }
})

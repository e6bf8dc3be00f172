/**
 * `npm run test:only -- faults`: makes the n-th system call of each kind fail, for each n, as the tests of SQLite do
 * (sqlite.org/testing.html, section 3.3), in real commands and in the start of a service. After each fault the promise holds: a list or
 * a file is the earlier one or the new one, complete; a cursor is that of what was confirmed; nothing is left behind; the command says
 * what failed, in one line without a stack; and the same command, without a fault, completes the work.
 */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { PROGRAM } from '../support/program.ts'
import { type CommandResult, runCommand } from '../support/service.ts'

/** The calls that change files, or make them durable. The runtime makes none of them for itself. */
const CALLS = [
  ...['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'rename', 'renameat', 'renameat2', 'link', 'linkat'],
  ...['unlink', 'unlinkat', 'fchmod', 'fchown', 'chmod', 'mkdir', 'mkdirat'],
] as const

/** A test makes hundreds of runs. On a busy machine, each takes seconds. In milliseconds. */
const LIMIT_MS = 600_000

/** More calls of one kind than this are those of a loop, which the first ones have shown. */
const MOST = 8

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

/** Runs a command under strace. Returns its result and the calls that it made, by kind. */
async function trace(fixture: CliFixture, { args, stdin }: Operation, fault?: { call: string; n: number }) {
  const log = join(fixture.folder, 'trace')
  const calls = fault?.call ?? CALLS.join(',')
  const rule = fault ? ['-e', `inject=${calls}:error=EIO:when=${fault.n}`] : []
  const program = ['strace', '-f', '-qq', '--seccomp-bpf', '-o', log, '-e', `trace=${calls}`, ...rule, PROGRAM]
  const result = await runCommand(args, { program, stdin, folder: fixture.folder, env: { DATABASE_URL: fixture.list } })
  const text = readFileSync(log, 'utf8')
  rmSync(log)
  return { result, text }
}

/** How many calls of each kind a thread makes at most: strace counts for each thread. */
function countCalls(text: string): Map<string, number> {
  const perThread = new Map<string, number>()
  for (const [, thread, call] of text.matchAll(/^(\d+) +(\w+)\(/gm)) {
    const key = `${thread} ${call}`
    perThread.set(key, (perThread.get(key) ?? 0) + 1)
  }
  const most = new Map<string, number>()
  for (const [key, count] of perThread) {
    const call = key.split(' ')[1] ?? ''
    most.set(call, Math.max(most.get(call) ?? 0, count))
  }
  return most
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

test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  '%s',
  async (_, operation) => {
    const first = await createCliFixture()
    await operation.prepare(first)
    const { result, text } = await trace(first, operation)
    expect([result.code, result.code === 0 ? '' : result.stderr]).toEqual([0, ''])
    const faults = [...countCalls(text)].flatMap(([call, count]) =>
      Array.from({ length: Math.min(count, MOST) }, (_, index) => ({ call, n: index + 1 })),
    )
    expect(faults.length).toBeGreaterThan(3)
    for (const fault of faults) {
      const fixture = await createCliFixture()
      await operation.prepare(fixture)
      const failed = await trace(fixture, operation, fault)
      const name = `${fault.call} ${fault.n}`
      // What cannot be deleted stays. A partial file is private, and the next command that writes this file deletes it. A journal was
      // emptied before, so SQLite does not play it back, and deletes it.
      const leaves = fault.call.startsWith('unlink')
        ? [operation.leaves, /^\..+\.partial|-journal$/]
        : [operation.leaves]
      const names = readdirSync(fixture.folder).filter((entry) => !leaves.some((pattern) => pattern.test(entry)))
      try {
        expectWords(failed.result)
        expect(names).toEqual([])
        await operation.check(fixture, failed.result)
        // A second time, without a fault, the work is done, or was done.
        const again = await runCommand(operation.args, {
          folder: fixture.folder,
          stdin: operation.stdin,
          env: { DATABASE_URL: fixture.list },
        })
        await operation.check(fixture, again)
      } catch (error) {
        throw new Error(
          `${operation.name}, after a fault in ${name} (exit ${failed.result.code}): ${failed.result.stderr}`,
          {
            cause: error,
          },
        )
      }
    }
    console.log(`${operation.name}: ${faults.length} faults`)
  },
  LIMIT_MS,
)

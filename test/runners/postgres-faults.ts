/**
 * A part of `npm run test:only -- faults`: makes the n-th call of each kind on a connection to PostgreSQL fail, for each n, in real
 * commands. After each fault the promise holds: the list is the earlier one or the new one, complete; the command says what failed, in
 * one line without a stack and the password; and the same command, without a fault, completes the work.
 */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { getServer, PASSWORD } from '../support/postgres.ts'
import { PROGRAM } from '../support/program.ts'
import { type CommandResult, runCommand } from '../support/service.ts'
import { describeFaults, type Fault, takeTrace, toFaults, toTracer } from '../support/strace.ts'

const server = await getServer()

/** The calls on connections. The runtime makes none of them for itself. */
const CALLS = ['socket', 'connect', 'sendto', 'recvfrom']

interface Case extends CliFixture {
  /** The list on the server. */
  readonly url: string
}

interface Operation {
  readonly name: string
  readonly args: readonly string[]
  readonly stdin?: string
  /** Whether the list exists before. */
  readonly isNew?: true
  /** Checks the state after a run, whether it failed or not. */
  readonly check: (found: Case, result: CommandResult) => Promise<void>
}

const EARLIER = 'ada bob'

async function expectEmails({ rows, url }: Case, ...choices: readonly string[]): Promise<void> {
  const emails = (await rows(url)).map(({ email }) => email.replace('@site.io', '')).sort()
  expect(choices).toContain(emails.join(' '))
}

const OPERATIONS: readonly Operation[] = [
  {
    name: 'import',
    args: ['import', '-', '--yes'],
    stdin: 'cyn@site.io\ndan@site.io\n',
    // A connection may break between the commit and its response.
    check: (found, { code }) => expectEmails(found, ...(code === 0 ? [] : [EARLIER]), 'ada bob cyn dan'),
  },
  {
    name: 'remove',
    args: ['remove', 'bob@site.io'],
    check: (found, { code }) => expectEmails(found, ...(code === 0 ? [] : [EARLIER]), 'ada'),
  },
  {
    name: 'export',
    args: ['export', '--format', 'txt', '--out', 'out.txt'],
    check: async (found, { code }) => {
      const out = join(found.folder, 'out.txt')
      if (code === 0 || existsSync(out)) expect(readFileSync(out, 'utf8')).toBe('ada@site.io\nbob@site.io\n')
      await expectEmails(found, EARLIER)
    },
  },
  {
    name: 'copy to a new list',
    args: ['copy', '--from', 'sqlite:from.db', '--to'],
    isNew: true,
    check: async (found, { code }) => {
      // The list is created first, and filled in one transaction.
      const { code: isMissing } = await found.run(['count', '--list', found.url])
      if (code === 0 || isMissing === 0) await expectEmails(found, ...(code === 0 ? [] : ['']), EARLIER)
    },
  },
]

async function prepare({ isNew }: Operation): Promise<Case> {
  const fixture = await createCliFixture()
  const url = await server.createUrl()
  const target = isNew ? 'sqlite:from.db' : url
  await fixture.print(['import', '-', '--list', target], 'ada@site.io\nbob@site.io\n')
  return { ...fixture, url }
}

const toArgs = ({ args, isNew }: Operation, { url }: Case) => (isNew ? [...args, url] : args)

/** Runs a command under strace. Returns its result, and what strace wrote. */
async function trace(operation: Operation, found: Case, fault?: Fault) {
  const { folder, url } = found
  const options = { folder, stdin: operation.stdin, env: { DATABASE_URL: url } }
  const program = [...toTracer({ folder, calls: CALLS, fault }), PROGRAM]
  const result = await runCommand(toArgs(operation, found), { ...options, program })
  return { result, text: await takeTrace(folder) }
}

async function tryFault(operation: Operation, fault: Fault): Promise<boolean> {
  const found = await prepare(operation)
  const { result, text } = await trace(operation, found, fault)
  try {
    expect(result.stderr + result.stdout).not.toContain(PASSWORD)
    if (result.code !== 0) {
      expect([result.code, result.stderr]).toEqual([1, expect.stringMatching(/^rollcall: .+\n/m)])
      expect(result.stderr).not.toMatch(/^ +at |\.ts:\d|node_modules/m)
    }
    expect(readdirSync(found.folder).filter((name) => name.includes('partial'))).toEqual([])
    await operation.check(found, result)
    const { folder, url } = found
    const again = await runCommand(toArgs(operation, found), {
      folder,
      stdin: operation.stdin,
      env: { DATABASE_URL: url },
    })
    await operation.check(found, again)
  } catch (cause) {
    const place = `${operation.name}, after a fault in ${fault.call} ${fault.n}`
    throw new Error(`${place} (exit ${result.code}): ${result.stderr}`, { cause })
  }
  return text.includes('(INJECTED)')
}

test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', async (name, operation) => {
  const { result, text } = await trace(operation, await prepare(operation))
  expect([result.code, result.code === 0 ? '' : result.stderr]).toEqual([0, ''])
  const met = new Map<Fault, boolean>()
  for (const fault of toFaults(text, 'ECONNRESET')) met.set(fault, await tryFault(operation, fault))
  expect([...met.values()].filter(Boolean).length).toBeGreaterThan(10)
  console.log(`PostgreSQL: ${name}\n${describeFaults(text, met)}`)
})

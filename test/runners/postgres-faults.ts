/**
 * A part of `npm run test:only -- faults`: makes the n-th call of each kind on a connection to PostgreSQL fail, for each n, in real
 * commands and in the start of a service. After each fault the promise holds: the list is the earlier one or the new one, complete; the
 * command says what failed, in one line without a stack and the password; and the same command, without a fault, completes the work. A
 * service recovers by itself, and what it confirmed is on the list.
 */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { getServer, PASSWORD } from '../support/postgres.ts'
import { PROGRAM } from '../support/program.ts'
import { type CommandResult, type RunningService, runCommand, startService } from '../support/service.ts'
import { describeFaults, type Fault, takeTrace, toFaults, toTracer } from '../support/strace.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

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

/** The lists of services. */
const { rows } = await createCliFixture()

/** Posts an address. Undefined when the connection of the request breaks: a fault may meet that one too. */
const post = ({ subscribe }: RunningService, email: string) =>
  subscribe(email).then(
    ({ status }) => status,
    () => undefined,
  )

/**
 * Starts a service on a new list under strace, and posts an address until it is confirmed. Returns what strace wrote, and what the service
 * says.
 */
async function traceStart(url: string, fault?: Fault) {
  const folder = await createFolder()
  const launcher = toTracer({ folder, calls: CALLS, fault })
  const service = await startService({ folder, launcher, env: { DATABASE_URL: url } }).catch((error: unknown) =>
    String(error),
  )
  if (typeof service === 'string') return { ended: service, log: service, text: await takeTrace(folder) }
  const statuses = new Set<number | undefined>()
  await until(async () => {
    const status = await post(service, 'ada@site.io')
    statuses.add(status)
    return status === 200
  }, 'an address is confirmed')
  expect([200, 500, undefined]).toEqual(expect.arrayContaining([...statuses]))
  expect(await service.stop()).toBe(0)
  return { ended: undefined, log: service.log(), text: await takeTrace(folder) }
}

async function tryStart(fault: Fault): Promise<boolean> {
  const url = await server.createUrl()
  const name = `${fault.call} ${fault.n}`
  try {
    const { ended, log, text } = await traceStart(url, fault)
    expect(log).not.toContain(PASSWORD)
    expect(log).not.toMatch(/^ +at |"stack"/m)
    // Only the socket that listens is needed at once: a server that is down now may come back.
    if (ended !== undefined) expect(ended).toContain('the service ended with 1: ')
    // A second time, without a fault, it starts in any case.
    expect((await traceStart(url)).ended).toBeUndefined()
    expect((await rows(url)).map(({ email }) => email)).toEqual(['ada@site.io'])
    return text.includes('(INJECTED)')
  } catch (cause) {
    throw new Error(`the start of a service, after a fault in ${name}`, { cause })
  }
}

test('the start of a service', async () => {
  const { ended, text } = await traceStart(await server.createUrl())
  expect(ended).toBeUndefined()
  const met = new Map<Fault, boolean>()
  for (const fault of toFaults(text, 'ECONNRESET')) met.set(fault, await tryStart(fault))
  expect([...met.values()].filter(Boolean).length).toBeGreaterThan(10)
  console.log(`PostgreSQL: the start of a service\n${describeFaults(text, met)}`)
})

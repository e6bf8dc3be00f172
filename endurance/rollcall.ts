/** Rollcall as its users run it: the service and the commands as processes, and the list as the commands print it. */

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BrokenPromise, check } from './trial.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const START_MS = 60_000

/** The path of the endpoint. It is part of the public contract. */
export const ENDPOINT = '/api/newsletter'

export type Environment = Readonly<Record<string, string>>

export interface RunOptions {
  /** The folder for logs and output, which is also the working folder. */
  readonly folder: string
  readonly env?: Environment
  /** A command that runs the process, such as one that sets limits. It gets the command of the process as arguments. */
  readonly by?: readonly string[]
}

export interface Service {
  readonly port: number
  readonly opsPort: number
  readonly process: Bun.Subprocess
  readonly log: () => string
  /** The status of a path of the operations listener; 0 when it does not answer within 10 s. */
  readonly opsStatus: (path: string) => Promise<number>
  /** Sends a signal and waits for the end. Returns the exit code, or null after a signal that ends the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface Verb {
  readonly process: Bun.Subprocess
  /** What the command has written to standard output so far. */
  readonly output: () => string
  readonly ended: Promise<VerbResult>
}

export interface VerbResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A row of an export. */
export interface Row {
  readonly email: string
  readonly subscribed_at: string
  readonly seq: number
}

const running = new Set<Bun.Subprocess>()
let started = 0

/** Ends every process that is still running. */
export function endProcesses(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** Starts the service on a list, on free ports, and waits until it listens. */
export async function startService(list: string, options: RunOptions): Promise<Service> {
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:3000',
    OPS_PORT: '0',
    DATABASE_URL: list,
    SITE_FILE: '/dev/null',
    ...options.env,
  }
  const { child, stderr } = spawn(['serve'], { ...options, env }, 'service')
  const log = () => readFileSync(stderr, 'utf8')
  const ports = await waitForPorts(child, log)
  return {
    ...ports,
    process: child,
    log,
    opsStatus: (path) =>
      fetch(`http://127.0.0.1:${ports.opsPort}${path}`, { signal: AbortSignal.timeout(10_000) }).then(
        ({ status }) => status,
        () => 0,
      ),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      // Without a limit, a service that does not stop would stop the suite.
      const killer = setTimeout(() => child.kill('SIGKILL'), 20_000)
      await child.exited
      clearTimeout(killer)
      return child.exitCode
    },
  }
}

async function waitForPorts(
  child: Bun.Subprocess,
  log: () => string,
): Promise<{ readonly port: number; readonly opsPort: number }> {
  const end = performance.now() + START_MS
  for (;;) {
    const line = log().match(/^\{.*"port":\d+.*\}$/m)?.[0]
    if (line) return JSON.parse(line) as { port: number; opsPort: number }
    if (child.exitCode !== null || performance.now() > end) {
      throw new BrokenPromise(`the service does not start (exit code ${child.exitCode}): ${log()}`)
    }
    await Bun.sleep(5)
  }
}

/** Starts a command on a list. */
export function startVerb(args: readonly string[], list: string, options: RunOptions): Verb {
  const env = { DATABASE_URL: list, ...options.env }
  const { child, stderr, stdout } = spawn(args, { ...options, env }, args[0] ?? 'verb')
  const output = () => readFileSync(stdout, 'utf8')
  const ended = child.exited.then(() => ({
    code: child.exitCode,
    stdout: output(),
    stderr: readFileSync(stderr, 'utf8'),
  }))
  return { process: child, output, ended }
}

/** Runs a command that must succeed, and returns what it prints. */
export async function runVerb(args: readonly string[], list: string, options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await startVerb(args, list, options).ended
  check(code === 0, () => `rollcall ${args.join(' ')} ends with ${code}: ${stderr.trim()}`)
  return stdout
}

/** Reads the whole list as the export writes it. Fails when an address is listed twice or the order is wrong. */
export async function readList(list: string, options: RunOptions, args: readonly string[] = []): Promise<Row[]> {
  const text = await runVerb(['export', '--format', 'ndjson', '--include-reserved', ...args], list, options)
  return parseRows(text)
}

/** Parses rows, and checks that the cursor grows. */
export function parseRows(text: string): Row[] {
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
  for (const [index, { seq }] of rows.entries()) {
    const before = rows[index - 1]?.seq ?? 0
    check(seq > before, () => `the cursor does not grow: ${seq} follows ${before}`)
  }
  return rows
}

/** The rows by identity. Fails when an address is listed twice. */
export function byIdentity(rows: readonly Row[]): Map<string, Row> {
  const listed = new Map<string, Row>()
  for (const row of rows) {
    const identity = row.email.toLowerCase()
    const earlier = listed.get(identity)
    check(!earlier, () => `an address is on the list twice, at ${earlier?.seq} and ${row.seq}: ${identity}`)
    listed.set(identity, row)
  }
  return listed
}

/** Fails when a log of this folder shows an address. */
export function checkLogs(folder: string): void {
  const logs = existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : []
  for (const name of logs.filter((file) => file.endsWith('service.stderr'))) {
    const text = readFileSync(join(folder, 'logs', name), 'utf8')
    const line = text.split('\n').find((candidate) => candidate.includes('@'))
    check(line === undefined, () => `a log of the service shows an address: ${line}`)
  }
}

function spawn(args: readonly string[], { folder, env, by = [] }: RunOptions, name: string) {
  mkdirSync(join(folder, 'logs'), { recursive: true })
  started++
  const [stdout, stderr] = ['stdout', 'stderr'].map((end) => join(folder, 'logs', `${started}.${name}.${end}`))
  if (!stdout || !stderr) throw new Error('there are two files')
  const [out, err] = [openSync(stdout, 'w'), openSync(stderr, 'w')]
  const { PATH = '', HOME = '/' } = process.env
  const child = Bun.spawn([...by, process.execPath, CLI, ...args], {
    cwd: folder,
    env: { PATH, HOME, ...env },
    stdin: 'ignore',
    stdout: out,
    stderr: err,
  })
  closeSync(out)
  closeSync(err)
  running.add(child)
  void child.exited.then(() => running.delete(child))
  return { child, stdout, stderr }
}

/** Rollcall as its users run it: the service and the commands as processes on a list. */

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BrokenPromise, check } from './check.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const START_MS = 60_000

/** Milliseconds after which a service that does not stop is killed: longer than its own deadline. */
const STOP_MS = 20_000

/** The path of the endpoint. It is part of the public contract. */
export const ENDPOINT = '/api/newsletter'

export type Environment = Readonly<Record<string, string>>

export interface RunOptions {
  readonly env?: Environment | undefined
  /** A command that runs the process, such as one that sets limits. It gets the command of the process as arguments. */
  readonly by?: readonly string[]
}

export interface List {
  readonly url: string
  /** The file of a SQLite list; empty on PostgreSQL. */
  readonly file: string
  /** Starts the service on free ports, and waits until it listens. */
  serve(options?: RunOptions): Promise<Service>
  /** Starts a command. */
  start(args: readonly string[], options?: RunOptions): Verb
  /** Runs a command that must succeed, and returns what it prints. */
  run(args: readonly string[], options?: RunOptions): Promise<string>
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
  readonly ended: Promise<VerbResult>
}

export interface VerbResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const running = new Set<Bun.Subprocess>()
let started = 0

/** Ends every process that is still running. */
export function endProcesses(): void {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * A list by its URL.
 *
 * @param folder the working folder of the processes; their output goes to `logs/` in it
 */
export function toList(url: string, folder: string): List {
  function start(args: readonly string[], { env, by }: RunOptions = {}): Verb {
    const { child, stderr, stdout } = spawn(args, folder, { env: { DATABASE_URL: url, ...env }, by })
    const read = (code: number | null) => ({
      code,
      stdout: readFileSync(stdout, 'utf8'),
      stderr: readFileSync(stderr, 'utf8'),
    })
    return { process: child, ended: child.exited.then(() => read(child.exitCode)) }
  }

  return {
    url,
    file: url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '',
    serve: (options) => startService(url, folder, options),
    start,
    async run(args, options) {
      const { code, stdout, stderr } = await start(args, options).ended
      check(code === 0, () => `rollcall ${args.join(' ').slice(0, 200)} ends with ${code}: ${stderr.trim()}`)
      return stdout
    },
  }
}

async function startService(url: string, folder: string, { env, by }: RunOptions = {}): Promise<Service> {
  const settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:3000',
    OPS_PORT: '0',
    DATABASE_URL: url,
    SITE_FILE: '/dev/null',
    ...env,
  }
  const { child, stderr } = spawn(['serve'], folder, { env: settings, by })
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
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
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

/** Fails when a log of a service in this folder shows an address. */
export function checkLogs(folder: string): void {
  const logs = existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : []
  for (const name of logs.filter((file) => file.endsWith('serve.stderr'))) {
    const text = readFileSync(join(folder, 'logs', name), 'utf8')
    const line = text.split('\n').find((candidate) => candidate.includes('@'))
    check(line === undefined, () => `a log of the service shows an address: ${line}`)
  }
}

function spawn(args: readonly string[], folder: string, { env, by = [] }: { env: Environment; by: RunOptions['by'] }) {
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const name = `${++started}.${args[0]}`
  const [stdout, stderr] = [join(folder, 'logs', `${name}.stdout`), join(folder, 'logs', `${name}.stderr`)]
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

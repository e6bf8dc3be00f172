/** Rollcall as its users run it: the service and the commands as processes on a list. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CLI } from '../test/support/paths.ts'
import { endServices, LOG_FOLDER, type RunningService, startService } from '../test/support/service.ts'
import { check } from './check.ts'

export interface RunOptions {
  /** A command that runs the process, such as a recorder. It gets the command of the process as arguments. */
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
  run(args: readonly string[]): Promise<string>
}

export interface Service extends Pick<RunningService, 'port' | 'process' | 'log' | 'stop'> {
  /** The status of a path of the operations listener; 0 when it does not answer within 10 s. */
  readonly opsStatus: (path: string) => Promise<number>
}

export interface Verb {
  readonly process: Bun.Subprocess
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
}

const verbs = new Set<Bun.Subprocess>()

/** Ends every process that is still running. */
export function endProcesses(): void {
  endServices()
  for (const verb of verbs) verb.kill('SIGKILL')
}

/** A list by its URL. @param folder the working folder of the processes */
export function toList(url: string, folder: string): List {
  function start(args: readonly string[], { by = [] }: RunOptions = {}): Verb {
    const { PATH = '', HOME = '/' } = process.env
    const child = Bun.spawn([...by, process.execPath, CLI, ...args], {
      cwd: folder,
      env: { PATH, HOME, DATABASE_URL: url },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    verbs.add(child)
    const read = Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    const ended = read.then(([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr }))
    return { process: child, ended: ended.finally(() => verbs.delete(child)) }
  }

  return {
    url,
    file: url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '',
    start,
    async serve({ by = [] } = {}) {
      const env = { DATABASE_URL: url, SITE_FILE: '/dev/null', OPS_PORT: '0' }
      const service = await startService({ folder, launcher: by, env })
      const opsStatus = (path: string) =>
        fetch(`http://127.0.0.1:${service.opsPort}${path}`, { signal: AbortSignal.timeout(10_000) }).then(
          ({ status }) => status,
          () => 0,
        )
      return { ...service, opsStatus }
    },
    async run(args) {
      const { code, stdout, stderr } = await start(args).ended
      check(code === 0, () => `rollcall ${args.join(' ').slice(0, 200)} ends with ${code}: ${stderr.trim()}`)
      return stdout
    },
  }
}

/** Fails when a log of a service shows an address. Removes the logs. */
export function checkLogs(): void {
  const logs = existsSync(LOG_FOLDER) ? readdirSync(LOG_FOLDER) : []
  const lines = logs.flatMap((name) => readFileSync(join(LOG_FOLDER, name), 'utf8').split('\n'))
  const line = lines.find((candidate) => candidate.includes('@'))
  check(line === undefined, () => `a log of the service shows an address: ${line}`)
  rmSync(LOG_FOLDER, { recursive: true, force: true })
}

/** Rollcall as its users run it: the service and the commands as processes on a list. */

import { CLI } from '../test/support/paths.ts'
import { type RunningService, startCommand, startService } from '../test/support/service.ts'
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
  /** Whether /readyz says 200. */
  isReady(): Promise<boolean>
}

export type Verb = ReturnType<typeof startCommand>

/** A list by its URL. @param folder the working folder of the processes */
export function toList(url: string, folder: string): List {
  const start = (args: readonly string[], { by = [] }: RunOptions = {}) =>
    startCommand(args, { folder, env: { DATABASE_URL: url }, program: [...by, process.execPath, CLI] })

  return {
    url,
    file: url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '',
    start,
    async serve({ by = [] } = {}) {
      const env = { DATABASE_URL: url, SITE_FILE: '/dev/null', OPS_PORT: '0' }
      const service = await startService({ folder, launcher: by, env })
      const isReady = async () => (await service.ops('/readyz')).ok
      return { ...service, isReady }
    },
    run: async (args) => toOutput(args, await start(args).ended),
  }
}

/** Returns what a command printed that must have succeeded. */
export function toOutput(args: readonly string[], { code, stdout, stderr }: Awaited<Verb['ended']>): string {
  check(code === 0, () => `rollcall ${args.join(' ').slice(0, 200)} ends with ${code}: ${stderr.trim()}`)
  return stdout
}

/** Starts the service as its users do, as a process of its own, and checks every response against the description. */

import { appendFileSync, mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { toSupportFile } from './paths.ts'
import { PROGRAM } from './program.ts'
import type { AnswerCheck } from './response-check.ts'
import { within } from './wait.ts'
import { createFolder, LOG_FOLDER, RUNNING } from './workspace.ts'

export type Environment = Readonly<Record<string, string>>

/** Loads preload.ts into a process. */
export const PRELOADED: Environment = { BUN_OPTIONS: `--preload ${toSupportFile('preload.ts')}` }

/** A response with its body. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface ServiceOptions {
  /** Settings that differ from the defaults of a test: a free port, and a list in the folder of the service. */
  readonly env?: Environment
  /** The text of the site file. */
  readonly site?: string
  /** A command that starts the service, such as one that sets limits. Its last arguments are the command of the service. */
  readonly launcher?: readonly string[]
  /** Replaces the command of the service. */
  readonly command?: readonly string[]
  /** The working folder. The default is a temporary folder of its own. */
  readonly folder?: string
}

export interface RunningService {
  readonly port: number
  readonly opsPort: number | undefined
  /** The origin that the test connects to. BASE_URL may differ. */
  readonly origin: string
  readonly folder: string
  readonly process: Bun.Subprocess
  /** Returns the log so far. */
  readonly log: () => string
  /** Throws when the description does not declare a response. `request` calls it itself. */
  readonly check: AnswerCheck
  /** Sends a request, and checks the response. */
  request(path: string, init?: RequestInit): Promise<Reply>
  /** Sends a request to the operations listener. */
  ops(path: string, init?: RequestInit): Promise<Response>
  /** Posts an address. */
  subscribe(email: unknown): Promise<Reply>
  /** Waits until the log has a line with this text. */
  logged(text: string): Promise<void>
  /** Sends a signal, and waits until the process ends. Returns the exit code, null after SIGKILL. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Writes files that Bun reads where it starts, unless an option forbids it: settings of another program, which are wrong here. */
export async function writeForeignFiles(folder: string): Promise<void> {
  for (const name of ['.env', '.env.local'])
    await writeFile(join(folder, name), 'DATABASE_URL=sqlite:foreign.db\nLOG_LEVEL=x\n')
  await writeFile(join(folder, 'bunfig.toml'), 'preload = ["./foreign.ts"]\n')
  await writeFile(join(folder, 'foreign.ts'), 'process.exit(99)\n')
}

/** Without the env file of an installed package, whose list is not for tests. */
export const NO_ENV_FILE: Environment = { ENV_FILE: '/dev/null' }

/** Returns the environment of a child process: the settings, and from this process only what the child needs to run. */
function toChildEnvironment(env: Environment): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env
  return { PATH, HOME, ...NO_ENV_FILE, ...env }
}

/**
 * Starts the service and waits until it listens.
 *
 * @throws with the exit code and stderr when the process ends instead
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const folder = options.folder ?? (await createFolder())
  const defaults = { PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://127.0.0.1:3000' }
  const env: Environment = { ...defaults, ...(options.site && { SITE_FILE: 'site.yaml' }), ...options.env }
  if (options.site) await writeFile(join(folder, 'site.yaml'), options.site)
  const command = options.command ?? [...(options.launcher ?? []), PROGRAM, 'serve']
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: toChildEnvironment(env),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  RUNNING.add(child)
  const log = followLog(child)
  const line = await Promise.race([
    log.waitFor('"listening on '),
    child.exited.then(async (code) => {
      await log.ended
      throw new Error(`the service ended with ${code}: ${log.text()}`)
    }),
  ])
  const { port, opsPort } = JSON.parse(line) as { port: number; opsPort?: number }
  const origin = `http://127.0.0.1:${port}`
  const [{ ENDPOINT }, check] = await Promise.all([import('./contract.ts'), createCheck(env, folder)])

  async function request(path: string, init: RequestInit = {}): Promise<Reply> {
    const response = await fetch(origin + path, { redirect: 'manual', ...init })
    const body = await response.text()
    check({ method: init.method ?? 'GET', path, status: response.status, headers: response.headers, body })
    return { status: response.status, headers: response.headers, body }
  }

  return {
    port,
    opsPort,
    origin,
    folder,
    process: child,
    log: log.text,
    check,
    request,
    ops: (path, init) => fetch(`http://127.0.0.1:${opsPort}${path}`, init),
    subscribe: (email) =>
      request(ENDPOINT.path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email }),
      }),
    logged: async (text) => void (await log.waitFor(text)),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await within(child.exited, () => `the service ends after ${signal}; its log:\n${log.text()}`)
      await log.ended
      RUNNING.delete(child)
      return child.exitCode
    },
  }
}

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly env?: Environment
  readonly folder?: string
  readonly stdin?: string | Uint8Array | undefined
  /** The program that runs. The default is the executable of the sources. */
  readonly program?: readonly string[]
}

/** Runs a command of the command line, and waits until it ends. */
export function runCommand(args: readonly string[], options?: CommandOptions): Promise<CommandResult> {
  return startCommand(args, options).ended
}

/** Starts a command of the command line. */
export function startCommand(
  args: readonly string[],
  { env = {}, folder, stdin, program = [PROGRAM] }: CommandOptions = {},
): { readonly process: Bun.Subprocess; readonly ended: Promise<CommandResult> } {
  const child = Bun.spawn([...program, ...args], {
    cwd: folder ?? tmpdir(),
    env: toChildEnvironment(env),
    stdin: stdin === undefined ? 'ignore' : Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  RUNNING.add(child)
  const read = Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const ended = read.then(([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr }))
  return { process: child, ended: ended.finally(() => RUNNING.delete(child)) }
}

const checks = new Map<string, AnswerCheck>()

/**
 * Creates the check of a service, by all of its settings. What it needs is loaded here: most tests start no service. The
 * check of a description is created once, at its first use, because that blocks the event loop for 200 ms.
 */
async function createCheck(env: Environment, folder: string): Promise<AnswerCheck> {
  const [{ readConfig }, { createDescription }, { createAnswerCheck }] = await Promise.all([
    import('../../src/config/config.ts'),
    import('../../src/documents/openapi/description.ts'),
    import('./response-check.ts'),
  ])
  const settings = { ...env, SITE_FILE: resolve(folder, env.SITE_FILE ?? '/dev/null') }
  let check: AnswerCheck | undefined
  return (answer) => {
    if (!check) {
      const description = createDescription(readConfig(settings))
      const key = JSON.stringify(description)
      check = checks.get(key) ?? createAnswerCheck(description)
      checks.set(key, check)
    }
    check(answer)
  }
}

/** Collects what a child writes to stderr, and copies it to LOG_FOLDER. */
function followLog(child: { readonly stderr: ReadableStream<Uint8Array>; readonly pid: number }) {
  mkdirSync(LOG_FOLDER, { recursive: true })
  const file = join(LOG_FOLDER, `${child.pid}.log`)
  const waiting = new Set<() => void>()
  let text = ''

  async function follow(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) {
      appendFileSync(file, chunk)
      text += decoder.decode(chunk, { stream: true })
      for (const look of waiting) look()
    }
  }

  function waitFor(part: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const look = () => {
      const line = text.split('\n').find((candidate) => candidate.includes(part))
      if (line === undefined) return
      waiting.delete(look)
      resolve(line)
    }
    waiting.add(look)
    look()
    return within(promise, () => `a line with '${part}' in the log:\n${text}`)
  }

  return { text: () => text, waitFor, ended: follow() }
}

/** Starts the service as its users do, as a process of its own, and holds every answer against the description. */

import { appendFileSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { createDescription } from '../../src/documents/openapi/description.ts'
import { ENDPOINT } from '../../src/routes.ts'
import { CLI, ROOT } from './paths.ts'
import { type AnswerCheck, createAnswerCheck } from './response-check.ts'

/** Where the log of every service that this process starts is kept; the last test reads them all. */
export const LOG_FOLDER = resolve(ROOT, 'test/.logs', String(process.pid))

export type Environment = Readonly<Record<string, string>>

/** An answer whose body has been read. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface ServiceOptions {
  /** Settings beyond the defaults, which are: any free port, a list in the service's own folder. */
  readonly env?: Environment
  /** The text of the site file. */
  readonly site?: string
  /** A command that the service is started by, such as one that sets limits; it gets the service's as its arguments. */
  readonly by?: readonly string[]
  /** The whole command, where it is not the service's own. */
  readonly command?: readonly string[]
  /** The working folder, kept afterwards; without one, a temporary folder is made and removed. */
  readonly folder?: string
}

export interface RunningService {
  readonly port: number
  readonly opsPort: number | undefined
  /** Where the test reaches it; BASE_URL may be something else. */
  readonly origin: string
  readonly folder: string
  readonly process: Bun.Subprocess
  /** All lines of the log so far. */
  readonly log: () => string
  /** Throws when an answer is not declared in the description; for answers that were not got by `request`. */
  readonly check: AnswerCheck
  /** Sends a request, checks the answer, and returns it. */
  request(path: string, init?: RequestInit): Promise<Reply>
  /** Posts an address. */
  subscribe(email: unknown): Promise<Reply>
  /** Waits until the log has a line with this text. */
  logged(text: string): Promise<void>
  /** Sends a signal and waits for the end; a temporary folder is removed. Returns the exit code, or null for a kill. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Makes a temporary folder. */
export function createFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'rollcall-test-'))
}

const running = new Set<Bun.Subprocess>()

/** Ends the processes that tests left behind when they failed. */
export function endServices(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** The environment of a child: nothing of ours but what it needs to run, and the settings. */
function toChildEnvironment(env: Environment): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env
  return { PATH, HOME, ...env }
}

/**
 * Starts the service and waits until it listens.
 *
 * @throws with the exit code and what was on stderr, when it ends instead
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const folder = options.folder ?? (await createFolder())
  const defaults = { PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://127.0.0.1:3000' }
  const env: Environment = { ...defaults, ...(options.site && { SITE_FILE: 'site.yaml' }), ...options.env }
  if (options.site) await writeFile(join(folder, 'site.yaml'), options.site)
  const command = options.command ?? [...(options.by ?? []), process.execPath, CLI, 'serve']
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: toChildEnvironment(env),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  running.add(child)
  const log = followLog(child)
  const line = await Promise.race([
    log.waitFor('"listening on ').then((text) => text),
    child.exited.then(async (code) => {
      await log.ended
      throw new Error(`the service ended with ${code}: ${log.text()}`)
    }),
  ])
  const { port, opsPort } = JSON.parse(line) as { port: number; opsPort?: number }
  const origin = `http://127.0.0.1:${port}`
  const check = createCheckFor(env, folder)

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
    subscribe: (email) =>
      request(ENDPOINT.path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email }),
      }),
    logged: async (text) => void (await log.waitFor(text)),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
      await log.ended
      running.delete(child)
      if (!options.folder) await rm(folder, { recursive: true, force: true })
      return child.exitCode
    },
  }
}

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of the command line to its end. */
export async function runCommand(
  args: readonly string[],
  { env = {}, folder, stdin }: { env?: Environment; folder?: string; stdin?: string | Uint8Array } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([process.execPath, CLI, ...args], {
    cwd: folder ?? tmpdir(),
    env: toChildEnvironment(env),
    stdin: stdin === undefined ? 'ignore' : Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  running.delete(child)
  return { code: child.exitCode, stdout, stderr }
}

/** The check by the description of a service with these settings. */
function createCheckFor(env: Environment, folder: string): AnswerCheck {
  const site = env.SITE_FILE
  return createAnswerCheck(
    createDescription(readConfig({ ...env, SITE_FILE: site ? resolve(folder, site) : '/dev/null' })),
  )
}

/** Gathers what a child writes to stderr, and keeps a copy among the logs of the run. */
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
    return new Promise((resolve) => {
      const look = () => {
        const line = text.split('\n').find((candidate) => candidate.includes(part))
        if (line === undefined) return
        waiting.delete(look)
        resolve(line)
      }
      waiting.add(look)
      look()
    })
  }

  return { text: () => text, waitFor, ended: follow() }
}

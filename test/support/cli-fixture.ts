/** Runs commands of the command line on a list of their own. */

import { onTestFinished } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { PROGRAM } from './program.ts'
import { type CommandResult, NO_ENV_FILE, runCommand } from './service.ts'
import { createFolder } from './workspace.ts'

/** A row of an export as NDJSON. */
export interface Row {
  readonly email: string
  readonly subscribed_at: string
  readonly seq: number
}

export type CliFixture = Awaited<ReturnType<typeof createCliFixture>>

/** Creates a folder for the test that calls this; it is removed when the test ends. */
export async function createCliFixture() {
  const folder = await createFolder()
  /** The URL of the list that commands work on by default. */
  const list = `sqlite:${join(folder, 'list.db')}`
  const options = { env: { DATABASE_URL: list }, folder }

  /** Runs a command to its end. */
  const run = (args: readonly string[], stdin?: string | Uint8Array): Promise<CommandResult> =>
    runCommand(args, { ...options, stdin })

  /** Runs a command that must succeed, and returns its standard output. */
  async function print(args: readonly string[], stdin?: string | Uint8Array): Promise<string> {
    const { code, stdout, stderr } = await run(args, stdin)
    if (code !== 0) throw new Error(`rollcall ${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout
  }

  /** Starts a command, with pipes to it; it is killed if it still runs when the test ends. */
  function start(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = { PATH: process.env.PATH, ...NO_ENV_FILE, DATABASE_URL: list, ...more }
    const child = Bun.spawn([PROGRAM, ...args], { cwd: folder, env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    onTestFinished(() => child.kill('SIGKILL'))
    return child
  }

  /** Runs a script of bash to its end, in which `rollcall` is the command line. */
  function shell(script: string): Promise<CommandResult> {
    const setup = `program=$0; rollcall() { "$program" "$@"; }`
    return runCommand(['-c', `${setup}; ${script}`, PROGRAM], { ...options, program: ['bash'] })
  }

  /** Writes a file, and returns its name. */
  async function write(name: string, content: string | Uint8Array): Promise<string> {
    await writeFile(join(folder, name), content)
    return name
  }

  /** Reads a list, reserved addresses included. */
  async function rows(from = list): Promise<readonly Row[]> {
    const text = await print(['export', '--format', 'ndjson', '--include-reserved', '--list', from])
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  /** Puts user.0@site.io and so on, on a list, many times faster than an import, which leaves time to others. */
  async function fill(count: number, name = 'list.db'): Promise<void> {
    const store = openSqliteStore(join(folder, name), { access: 'create' })
    const emails = Array.from({ length: count }, (_, index) => `user.${index}@site.io` as Address)
    for (let start = 0; start < count; start += 5_000) await store.add(emails.slice(start, start + 5_000))
    // Compacts them.
    await store.count()
    await store.close()
  }

  return { folder, list, run, print, start, shell, write, rows, fill }
}

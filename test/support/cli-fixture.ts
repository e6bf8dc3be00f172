/** Runs commands of the command line on a list of their own. */

import { onTestFinished } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CLI } from './paths.ts'
import { type CommandResult, createFolder, runCommand } from './service.ts'

export interface CliFixture {
  /** The working folder of the commands. */
  readonly folder: string
  /** The URL of the list that commands work on by default. */
  readonly list: string
  /** Runs a command to its end. */
  run(args: readonly string[], stdin?: string | Uint8Array): Promise<CommandResult>
  /** Runs a command that must succeed, and returns its standard output. */
  print(args: readonly string[], stdin?: string | Uint8Array): Promise<string>
  /** Starts a command; it is killed if it still runs when the test ends. */
  start(args: readonly string[]): Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  /** Runs a script of bash to its end, in which `rollcall` is the command line. */
  shell(script: string): Promise<CommandResult>
  /** Writes a file, and returns its name. */
  write(name: string, content: string | Uint8Array): Promise<string>
  /** Reads a list, reserved addresses included. */
  rows(list?: string): Promise<readonly Row[]>
}

/** A row of an export as NDJSON. */
export interface Row {
  readonly email: string
  readonly subscribed_at: string
  readonly seq: number
}

/** What a copy keeps of a row. The `seq` is that of the target. */
export const toAddressAndDate = ({ email, subscribed_at }: Row) => `${email} ${subscribed_at}`

/** Creates a folder for the test that calls this; it is removed when the test ends. */
export async function createCliFixture(): Promise<CliFixture> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const list = `sqlite:${join(folder, 'list.db')}`

  const run = (args: readonly string[], stdin?: string | Uint8Array) =>
    runCommand(args, { env: { DATABASE_URL: list }, folder, ...(stdin !== undefined && { stdin }) })

  async function print(args: readonly string[], stdin?: string | Uint8Array): Promise<string> {
    const { code, stdout, stderr } = await run(args, stdin)
    if (code !== 0) throw new Error(`rollcall ${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout
  }

  function spawn(command: readonly string[]): Bun.Subprocess<'pipe', 'pipe', 'pipe'> {
    const child = Bun.spawn([...command], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: list },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    onTestFinished(() => child.kill('SIGKILL'))
    return child
  }

  return {
    folder,
    list,
    run,
    print,
    start: (args) => spawn([process.execPath, CLI, ...args]),
    async shell(script) {
      const setup = `bun=$0 cli=$1; rollcall() { "$bun" "$cli" "$@"; }`
      // With a socket as its standard input, bash would read ~/.bashrc.
      const child = spawn(['bash', '--norc', '-c', `${setup}; ${script}`, process.execPath, CLI])
      const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      return { code, stdout, stderr }
    },
    async write(name, content) {
      await writeFile(join(folder, name), content)
      return name
    },
    async rows(from = list) {
      const text = await print(['export', '--format', 'ndjson', '--include-reserved', '--list', from])
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row)
    },
  }
}

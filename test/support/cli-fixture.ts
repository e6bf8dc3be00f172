/** Runs commands of the command line on a list of their own, in a folder that is taken away with the test. */

import { onTestFinished } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommandResult, createFolder, runCommand } from './service.ts'

export interface CliFixture {
  readonly folder: string
  /** The URL of the list that commands work on by default. */
  readonly list: string
  /** Runs a command to its end, in the folder. */
  run(args: readonly string[], stdin?: string | Uint8Array): Promise<CommandResult>
  /** Runs a command that has to succeed, and returns what it printed. */
  print(args: readonly string[], stdin?: string | Uint8Array): Promise<string>
  /** Writes a file into the folder. */
  write(name: string, content: string | Uint8Array): Promise<string>
  /** The list as NDJSON has it, reserved addresses included. */
  rows(list?: string): Promise<readonly Row[]>
}

/** A row of an export. */
export interface Row {
  readonly email: string
  readonly subscribed_at: string
  readonly seq: number
}

/** Makes a folder for the test that calls this; it goes when the test ends. */
export async function createCliFixture(): Promise<CliFixture> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const list = `sqlite:${join(folder, 'list.db')}`

  const run = (args: readonly string[], stdin?: string | Uint8Array) =>
    runCommand(args, { env: { DATABASE_URL: list }, folder, ...(stdin !== undefined && { stdin }) })

  async function print(args: readonly string[], stdin?: string | Uint8Array): Promise<string> {
    const { code, stdout, stderr } = await run(args, stdin)
    if (code !== 0) throw new Error(`rollcall ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }

  return {
    folder,
    list,
    run,
    print,
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

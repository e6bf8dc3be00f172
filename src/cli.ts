#!/usr/bin/env bun
/** The command line: argv in, one command run, an exit code out (0 done, 1 failed, 2 wrong usage). */

import { Command, CommanderError } from 'commander'
import { createCountCommand } from './commands/count.ts'
import { createServeCommand } from './commands/serve.ts'
import { ConfigError } from './config.ts'
import { ListenError } from './http/server.ts'
import { StoreError } from './subscriber.ts'

const EXIT = { done: 0, failed: 1, usage: 2 } as const

const program = new Command('rollcall')
  .description('A newsletter list that its owner keeps.')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()
for (const command of [createServeCommand(), createCountCommand()]) {
  program.addCommand(command.copyInheritedSettings(program))
}

try {
  await program.parseAsync()
} catch (error) {
  process.exit(report(error))
}

/** Says in one line what went wrong, and turns it into the exit code. */
function report(error: unknown): number {
  // Commander has said its piece by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof ConfigError) return say(error.message, EXIT.usage)
  if (error instanceof StoreError || error instanceof ListenError) return say(error.message, EXIT.failed)
  throw error
}

function say(message: string, code: number): number {
  process.stderr.write(`rollcall: ${message}\n`)
  return code
}

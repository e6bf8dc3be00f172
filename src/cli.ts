#!/usr/bin/env bun
/** The command line: argv in, one command run, an exit code out (0 done, 1 failed, 2 wrong usage). */

import { Command, CommanderError } from 'commander'
import { createBackupCommand } from './commands/backup.ts'
import { createCopyCommand } from './commands/copy.ts'
import { createCountCommand } from './commands/count.ts'
import { createExportCommand } from './commands/export.ts'
import { createHasCommand } from './commands/has.ts'
import { createImportCommand } from './commands/import.ts'
import { Interrupted } from './commands/interrupt.ts'
import { createOpenapiCommand } from './commands/openapi.ts'
import { createRemoveCommand } from './commands/remove.ts'
import { createServeCommand } from './commands/serve.ts'
import { createStatusCommand } from './commands/status.ts'
import { ConfigError } from './config/config.ts'
import { BrokenPipe, Failure, UsageError } from './failure.ts'
import { ListenError } from './http/server.ts'
import { StoreError } from './subscriber.ts'

const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** As a shell reports a process that SIGPIPE has ended. */
  pipe: 141,
} as const

const program = new Command('rollcall')
  .description('A newsletter list that its owner keeps.')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 wrong usage. Data goes to standard output, everything else to standard error.',
  )
  .exitOverride()
for (const command of [
  createServeCommand(),
  createCountCommand(),
  createHasCommand(),
  createExportCommand(),
  createImportCommand(),
  createRemoveCommand(),
  createCopyCommand(),
  createStatusCommand(),
  createBackupCommand(),
  createOpenapiCommand(),
]) {
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
  if (error instanceof BrokenPipe) return EXIT.pipe
  if (error instanceof Interrupted) return say(error.message, error.exitCode)
  if (error instanceof ConfigError || error instanceof UsageError) return say(error.message, EXIT.usage)
  const isFailure = error instanceof Failure || error instanceof StoreError || error instanceof ListenError
  if (isFailure) return say(error.message, EXIT.failed)
  throw error
}

function say(message: string, code: number): number {
  process.stderr.write(`rollcall: ${message}\n`)
  return code
}

#!/usr/bin/env bun
/** The command line: runs the command that the arguments name, and sets the exit code. */

import { Command, CommanderError } from 'commander'
import { createBackupCommand } from './commands/backup.ts'
import { createCopyCommand } from './commands/copy.ts'
import { createCountCommand } from './commands/count.ts'
import { createExportCommand } from './commands/export.ts'
import { createHasCommand } from './commands/has.ts'
import { createImportCommand } from './commands/import.ts'
import { createOpenapiCommand } from './commands/openapi.ts'
import { createRemoveCommand } from './commands/remove.ts'
import { createServeCommand } from './commands/serve.ts'
import { createStatusCommand } from './commands/status.ts'
import { EXIT, Failure } from './failure.ts'

const program = new Command('rollcall')
  .description('A self-hosted subscribe form and API for your newsletter list.')
  .helpOption('-h, --help', 'Print help')
  .helpCommand('help [command]', 'Print help for a command')
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 wrong usage.\nData goes to standard output, everything else to standard error.',
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

/** Prints a Failure as one line. Returns the exit code. @throws any other error, which is a defect */
function report(error: unknown): number {
  // Commander has already printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (!(error instanceof Failure)) throw error
  if (error.message) process.stderr.write(`rollcall: ${error.message}\n`)
  return error.exitCode
}

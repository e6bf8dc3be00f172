#!/usr/bin/env bun
/** The command line: runs the command that the arguments name, and sets the exit code. */

import { Argument, Command, CommanderError } from 'commander'
import { createBackupCommand } from './commands/backup.ts'
import { createCompletionCommand } from './commands/completion.ts'
import { createCopyCommand } from './commands/copy.ts'
import { createCountCommand } from './commands/count.ts'
import { createDoctorCommand } from './commands/doctor.ts'
import { createExportCommand } from './commands/export.ts'
import { createHasCommand } from './commands/has.ts'
import { createImportCommand } from './commands/import.ts'
import { createManCommand } from './commands/man.ts'
import { createOpenapiCommand } from './commands/openapi.ts'
import { noteFailure, useJsonMessages } from './commands/output.ts'
import { createRemoveCommand } from './commands/remove.ts'
import { createRestoreCommand } from './commands/restore.ts'
import { createServeCommand } from './commands/serve.ts'
import { createStatusCommand } from './commands/status.ts'
import { toVersion } from './commands/version.ts'
import { EXIT, Failure } from './failure.ts'

const args = process.argv.slice(2)
const json = hasJsonOption(args)
if (json) useJsonMessages()

const NOTES = [
  'Exit codes: 0 done, 1 failed, 2 wrong usage.',
  'Data goes to standard output, everything else to standard error.',
]

const program = new Command('rollcall')
  .description('A self-hosted subscribe form and API for your newsletter list.')
  .helpOption('-h, --help', 'Print help')
  .addHelpText('after', `\n${NOTES.join('\n')}`)
  .version(toVersion({ json }), '-V, --version', 'Print the version; with --json also those of Bun and SQLite')
  .configureOutput({ outputError: (text, write) => void (json || write(text)) })
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
  createRestoreCommand(),
  createDoctorCommand(),
  createOpenapiCommand(),
  createCompletionCommand(program),
  createManCommand(program, NOTES),
]) {
  program.addCommand(command.copyInheritedSettings(program))
}
const verbs = program.commands.map((command) => command.name())
program.addHelpCommand(
  new Command('help')
    .description('Print help for a command')
    .helpOption(false)
    .addArgument(new Argument('[command]', 'The command').choices(verbs)),
)

try {
  await program.parseAsync(toKnownArguments(args), { from: 'user' })
} catch (error) {
  process.exit(report(error))
}

/** Whether messages are JSON: known before the options are parsed, so that errors in them are JSON too. */
function hasJsonOption(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).includes('--json')
}

/** Reduces arguments with an unknown verb to that verb: with `--help`, Commander would print the help, and exit with 0. */
function toKnownArguments(args: readonly string[]): readonly string[] {
  const [first = '', second = ''] = args
  const verb = first === 'help' ? second : first
  const isKnown = /^(-.*|help)?$/.test(verb) || verbs.includes(verb)
  return isKnown ? args : [verb]
}

/** Prints an expected error as one line. Returns the exit code. @throws any other error, which is a defect */
function report(error: unknown): number {
  if (error instanceof CommanderError) return reportUsage(error)
  if (!(error instanceof Failure)) throw error
  noteFailure(error)
  return error.exitCode
}

/** Commander has already printed a message that is not JSON. */
function reportUsage({ message, exitCode }: CommanderError): number {
  if (exitCode === 0) return EXIT.done
  if (json) noteFailure({ message: message.replace(/^error: /, '').replaceAll('\n', ' '), exitCode: EXIT.usage })
  return EXIT.usage
}

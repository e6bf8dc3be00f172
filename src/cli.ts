#!/usr/bin/env bun
/** The command line: runs the command that the arguments name, and sets the exit code. */

import { Argument, Command, CommanderError } from 'commander'
import { noteFailure, useJsonMessages } from './commands/output.ts'
import { toVersion } from './commands/version.ts'
import { EXIT, Failure } from './failure.ts'

const args = process.argv.slice(2)
const json = hasJsonOption(args)
if (json) useJsonMessages()

const NOTES = [
  'Exit codes: 0 done, 1 failed, 2 wrong usage.',
  'Data goes to standard output, everything else to standard error.',
]

// Each is imported on demand: together they take half of the time in which a command starts.
const COMMANDS = {
  serve: async () => (await import('./commands/serve.ts')).createServeCommand(),
  count: async () => (await import('./commands/count.ts')).createCountCommand(),
  has: async () => (await import('./commands/has.ts')).createHasCommand(),
  export: async () => (await import('./commands/export.ts')).createExportCommand(),
  import: async () => (await import('./commands/import.ts')).createImportCommand(),
  remove: async () => (await import('./commands/remove.ts')).createRemoveCommand(),
  copy: async () => (await import('./commands/copy.ts')).createCopyCommand(),
  status: async () => (await import('./commands/status.ts')).createStatusCommand(),
  backup: async () => (await import('./commands/backup.ts')).createBackupCommand(),
  restore: async () => (await import('./commands/restore.ts')).createRestoreCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).createDoctorCommand(),
  healthcheck: async () => (await import('./commands/healthcheck.ts')).createHealthcheckCommand(),
  openapi: async () => (await import('./commands/openapi.ts')).createOpenapiCommand(),
  completion: async () => (await import('./commands/completion.ts')).createCompletionCommand(program),
  man: async () => (await import('./commands/man.ts')).createManCommand(program, NOTES),
} satisfies Record<string, () => Promise<Command>>
type Verb = keyof typeof COMMANDS
const VERBS = Object.keys(COMMANDS).filter(isVerb)

/** These print something about every verb. */
const DESCRIBES_ALL: ReadonlySet<string> = new Set<Verb>(['completion', 'man'])

const program = new Command('rollcall')
  .description('A self-hosted subscribe form and API for your newsletter list.')
  .helpOption('-h, --help', 'Print help')
  .addHelpText('after', `\n${NOTES.join('\n')}`)
  .version(toVersion({ json }), '-V, --version', 'Print the version; with --json also those of Bun and SQLite')
  .configureOutput({ outputError: (text, write) => void (json || write(text)) })
  .exitOverride()
for (const verb of isVerb(args[0]) && !DESCRIBES_ALL.has(args[0]) ? [args[0]] : VERBS) {
  const command = await COMMANDS[verb]()
  program.addCommand(command.copyInheritedSettings(program))
}
program.addHelpCommand(
  new Command('help')
    .description('Print help for a command')
    .helpOption(false)
    .addArgument(new Argument('[command]', 'The command').choices(VERBS)),
)

try {
  await program.parseAsync(toKnownArguments(args), { from: 'user' })
} catch (error) {
  process.exit(report(error))
}

function isVerb(name: string | undefined): name is Verb {
  return name !== undefined && Object.hasOwn(COMMANDS, name)
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
  const isKnown = /^(-.*|help)?$/.test(verb) || isVerb(verb)
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

#!/usr/bin/env bun
/** The command line: runs the command that the arguments name, and sets the exit code. */

import { Argument, Command, CommanderError } from 'commander'
import { noteFailure } from './commands/output.ts'
import { toVersion } from './commands/version.ts'
import { EXIT, Failure } from './failure.ts'

const args = process.argv.slice(2)

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
} satisfies Record<string, () => Promise<Command>>
type Verb = keyof typeof COMMANDS
const VERBS = Object.keys(COMMANDS).filter(isVerb)

const program = new Command('rollcall')
  .description('A self-hosted subscribe form and API for your newsletter list.')
  .helpOption('-h, --help', 'Print help')
  .addHelpText('after', `\n${NOTES.join('\n')}`)
  .version(toVersion(), '-V, --version', 'Print the version')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'rollcall: ')) })
  .exitOverride()
for (const verb of isVerb(args[0]) ? [args[0]] : VERBS) {
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

/** Reduces arguments with an unknown verb to that verb: with `--help`, Commander would print the help, and exit with 0. */
function toKnownArguments(args: readonly string[]): readonly string[] {
  const [first = '', second = ''] = args
  const verb = first === 'help' ? second : first
  const isKnown = /^(-.*|help)?$/.test(verb) || isVerb(verb)
  return isKnown ? args : [verb]
}

/** Prints an expected error as one line. Returns the exit code. @throws any other error, which is a defect */
function report(error: unknown): number {
  // Commander has already printed a message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (!(error instanceof Failure)) throw error
  noteFailure(error)
  return error.exitCode
}

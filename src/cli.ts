#!/usr/bin/env bun
/** The command line: all verbs and their options. What a verb does is imported when it runs. */

import { isUtf8 } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { checkStandardOutput, note } from './commands/output.ts'
import { isDebugging } from './config/environment.ts'
import { EXIT, Failure, toFileFailure, toLogged, UsageError } from './failure.ts'
import { readProcess } from './files.ts'
import { HAND_OVER_BATCH } from './limits.ts'
import { FORMATS, TARGETS } from './transfer/writing/formats.ts'
import { BUILD, VERSION } from './version.ts'

const program = new Command('rollcall')
  .description('A self-hosted subscribe form and API for your newsletter list.')
  .helpOption('-h, --help', 'Print help')
  .version(BUILD ? `${VERSION} (${BUILD})` : VERSION, '-V, --version', 'Print the version')
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but addresses that wait in the inbox are missing, 128 and more: a signal.',
  )
  .addHelpText('after', 'Data goes to standard output, everything else to standard error.')
  .configureOutput({
    writeOut: printHelp,
    outputError: (text) => note(text.trimEnd().replace(/^error: /, 'rollcall: ')),
  })
  .exitOverride()
  // An option behind a verb is one of the verb: `remove -V` must not print the version.
  .enablePositionalOptions()
  .hook('preAction', (_, command) => checkCommand(command))

const json = new Option('--json', 'Print JSON')

addVerb('serve', 'Start the service', 'BASE_URL=https://news.example.org rollcall serve').action(async () =>
  (await import('./commands/serve.ts')).serve(),
)

addVerb('init', 'Ask five questions, and write the settings and the site file', 'sudo rollcall init /etc/rollcall')
  .argument('[folder]', 'The folder for env and site.yaml', '.')
  .option('--name <name>', 'The name of the newsletter')
  .option('--description <text>', 'What readers get, in one sentence, or none')
  .option('--base-url <url>', 'The URL of the page, such as https://list.example.org')
  .option('--contact <contact>', 'An email address or a URL for readers, or none')
  .option('--languages <tags>', 'The languages of the page, such as en,de, or all')
  .action(async (folder, options) => (await import('./commands/init.ts')).init(folder, options))

addListVerb('count', 'Print the number of addresses on the list', 'rollcall count --json')
  .addOption(json)
  .action(async (options) => (await import('./commands/count.ts')).count(options))

addListVerb('has', 'Print whether an address is on the list; if not, exit with 1', 'rollcall has ada@example.org')
  .argument('<address>', 'The address to look up; - for the one in standard input')
  // An address such as `-V@site.io` is no option, and a wrong option is no address.
  .allowUnknownOption()
  .addOption(json)
  .action(async (address, options) => (await import('./commands/count.ts')).has(address, options))

addListVerb('export', 'Write the list as CSV, NDJSON or one address per line', 'rollcall export --out list.csv')
  .addOption(new Option('--format <format>', 'Write this format').choices(FORMATS).default('csv'))
  .addOption(excluding('format', '--for <program>', 'Write CSV that this program can import').choices(TARGETS))
  .option('--after <cursor>', 'Start after this cursor', parseWholeNumber)
  .addOption(
    // With --since or --until the cursor would pass everybody else.
    excluding(['after', 'since', 'until'], '--cursor-file <file>', 'Start after the cursor in this file, and save it'),
  )
  .option('--since <time>', 'Write those who subscribed on this day (UTC) or later, such as 2026-11-22')
  .option('--until <time>', 'Write those who subscribed on this day (UTC) or earlier')
  .option('--limit <count>', 'Write at most this many addresses', parseWholeNumber)
  .option('--out <file>', 'Write to this file, which is replaced when the export is complete; - for standard output')
  .option('--include-reserved', 'Include addresses in reserved domains (example.org, .test and others)')
  .option('--spreadsheet-safe', 'Put an apostrophe before addresses that a spreadsheet would treat as a formula')
  .addOption(excluding('out', '--exec <command>', 'Write to this shell command, and save the cursor if it succeeds'))
  .option('--follow', 'With --exec: keep running, and hand over each new subscriber within a second')
  .option(
    '--batch <count>',
    `With --exec: at most this many at a time (--follow: ${HAND_OVER_BATCH})`,
    parseWholeNumber,
  )
  .action(async (options) => (await import('./commands/export.ts')).exportList(options))

addListVerb('import', 'Add the addresses in a file, and suppress people who left', 'rollcall import list.csv --dry-run')
  .argument('<file>', 'The file to import: CSV, JSON or one address per line; - for standard input')
  .option('--column <name>', 'Read the address from this column: its name, or its number from 1')
  .option('--date-column <name>', 'Read the date from this column; none: from no column')
  .addOption(new Option('--date-order <order>', 'Read 1/2/2024 as day/month or as month/day').choices(['dmy', 'mdy']))
  .option('--status-column <name>', 'Read a status from this column too (repeatable)', addValue)
  .option('--ignore-column <name>', 'Do not read this column (repeatable)', addValue)
  .option(
    '--treat <value=status>',
    'Read a value as subscribed, suppressed or skip; * is any other of no known status, except an empty one and "no" (repeatable)',
    addValue,
  )
  .addOption(excluding(['statusColumn', 'treat'], '--suppress', 'Suppress everybody in the file: all of them left'))
  .addOption(
    new Option('--undated <what>', 'What becomes of people who left on an unknown date').choices(['remove', 'keep']),
  )
  .option('--accept <doubt>', 'Accept a doubt: silence, words, lines or removals (repeatable)', addValue)
  .option('--cursor-file <file>', 'Who left and is up to this cursor of an export is removed, whatever the dates')
  .option('--encoding <name>', 'Read this encoding, such as windows-1252')
  .option('--rejected <file>', 'Write rows that are rejected or left out, and why, to this file')
  .option('--dry-run', 'Print what would happen without changing the list')
  .option('--yes', 'Import as shown, also what is doubtful, without the last question')
  .addOption(json)
  .action(async (file, options) => (await import('./commands/import.ts')).runImport(file, options))

addListVerb('remove', 'Remove addresses, and suppress them: imports skip them', 'rollcall remove ada@example.org')
  .argument('<address...>', 'The addresses to remove; - for those in standard input, one per line')
  .allowUnknownOption()
  .option('--forget', 'Remove addresses without suppressing them, and delete their suppressions')
  .addOption(json)
  .action(async (addresses, options) => (await import('./commands/remove.ts')).remove(addresses, options))

addVerb('copy', 'Make an empty list a copy of another one', 'rollcall copy --from sqlite:list.db --to-file new.url')
  .option('--from <url>', 'Copy this list, with numbers, dates and suppressions')
  .addOption(excluding('from', '--from-file <file>', 'Copy the list whose URL this file has'))
  .option('--to <url>', 'Copy to this list, which must be empty, and is created if it is missing')
  .addOption(excluding('to', '--to-file <file>', 'Copy to the list whose URL this file has'))
  .addOption(json)
  .action(async (options) => (await import('./commands/copy.ts')).copyList(options))

addListVerb('status', 'Print the state of the list and a chart of the last 90 days', 'rollcall status --max-silence 7d')
  .option('--max-silence <duration>', 'Exit with 1 if no reader came for this long, such as 36h or 7d', parseDuration)
  .addOption(excluding('json', '--html <file>', 'Write a web page with a chart of the complete days to this file'))
  .addOption(json)
  .action(async (options) => (await import('./commands/status.ts')).status(options))

addListVerb('backup', 'Copy a SQLite list to a file, also while the service runs', 'rollcall backup copy.db')
  .argument('<file>', 'The file to write; an existing file is replaced when the copy is complete and checked')
  .addOption(json)
  .action(async (file, options) => (await import('./commands/backup.ts')).backup(file, options))

addListVerb('restore', 'Replace a SQLite list with a backup. Keeps the old list', 'rollcall restore copy.db')
  .argument('<file>', 'The backup; it stays as it is')
  .option('--dry-run', 'Check the backup, and change nothing')
  .addOption(json)
  .action(async (file, options) => (await import('./commands/restore.ts')).restore(file, options))

addListVerb('doctor', 'Check the settings, the service and the list, and say what to do', 'rollcall doctor')
  .option('--cursor-file <file>', 'Compare the cursor of an export with the list too')
  .addOption(json)
  .action(async (options) => (await import('./commands/doctor.ts')).doctor(options))

addVerb('healthcheck', 'Ask the service on this machine whether it works', 'OPS_PORT=9000 rollcall healthcheck').action(
  async () => (await import('./commands/healthcheck.ts')).healthcheck(),
)

program.helpCommand('help [command]', 'Print help for a command')

// Ctrl-Z stops a command in a turn of the event loop: on a SQLite list, no write transaction of a command is open then, and a service
// gets the lock. On PostgreSQL, the server ends a transaction that locks the list after 3 s (IDLE_MS of inbox.ts), and one that
// reads stays open. Only `restore` and `copy` keep their lock, of a list that is replaced or empty.
process.on('SIGTSTP', () => process.kill(process.pid, 'SIGSTOP'))
process.on('uncaughtException', fail).on('unhandledRejection', fail)
// Not `await`: the bytecode of the npm package needs a program that does not wait here.
void program.parseAsync().catch(fail)

/** Prints a help text, or the version. @throws Failure */
function printHelp(text: string): void {
  try {
    writeFileSync(process.stdout.fd, text)
  } catch (error) {
    throw toFileFailure(error, 'standard output')
  }
}

function addVerb(name: string, description: string, example: string): Command {
  return program.command(name).description(description).addHelpText('after', `\nExample:\n  ${example}`)
}

/** Adds a verb that works on one list. */
function addListVerb(name: string, description: string, example: string): Command {
  const advice = 'Use this list instead of the one in DATABASE_URL (sqlite:PATH or postgres://…)'
  return addVerb(name, description, example).option('--list <url>', advice)
}

/** Creates an option that does not go with others. @param others their names in camel case */
function excluding(others: string | string[], flags: string, description: string): Option {
  return new Option(flags, description).conflicts(others)
}

/** Adds the value of an option that can be repeated. */
function addValue(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** Parses a whole number that is not negative. @throws InvalidArgumentError */
function parseWholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('Use a whole number.')
}

/** Parses a duration such as `90m`, `36h` or `7d` into milliseconds. @throws InvalidArgumentError */
function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[unit]
  if (seconds === undefined) throw new InvalidArgumentError('Use a number and s, m, h, d or w, such as 7d.')
  return Number(count) * seconds * 1000
}

/**
 * Refuses empty values: with an unset variable, `--cursor-file "$FILE"` would hand the whole list over. Refuses arguments that are
 * not UTF-8, which the runtime replaces: two names of files would be one. Refuses a closed standard output before anything
 * changes, but not for `serve`, which prints nothing there. @throws UsageError, Failure
 */
function checkCommand(command: Command): void {
  const empty = command.options.find((option) => isEmpty(command.getOptionValue(option.attributeName())))
  if (empty) throw new UsageError(`the value of ${empty.long} is empty`)
  if (command.args.some(isEmpty)) throw new UsageError('an argument is empty')
  if (!isUtf8(readProcess('cmdline'))) {
    throw new UsageError('an argument is not text in UTF-8: use another name for the file')
  }
  if (command.name() !== 'serve') checkStandardOutput()
}

function isEmpty(value: unknown): boolean {
  return [value].flat().some((text) => typeof text === 'string' && text.trim() === '')
}

/** Prints why a command fails, as one line, and ends the process. */
function fail(error: unknown): never {
  // Commander has already printed a message.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage)
  const failure = toFileFailure(error)
  if (!(failure instanceof Failure)) {
    // A message of the runtime is not for the owner, and may quote an address.
    const details = isDebugging()
      ? JSON.stringify(toLogged(error))
      : 'run the command again with LOG_LEVEL=debug, and report what it prints'
    note(`rollcall: an error of Rollcall itself (${error instanceof Error ? error.name : typeof error}): ${details}`)
    process.exit(EXIT.failed)
  }
  // The reader of a pipe that is gone gets no message.
  if (failure.message) note(`rollcall: ${failure.message}`)
  if (failure.cause !== undefined && isDebugging()) note(JSON.stringify(toLogged(failure.cause)))
  process.exit(failure.exitCode)
}

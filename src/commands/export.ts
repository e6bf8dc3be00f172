import { type Command, Option } from 'commander'
import { UsageError } from '../failure.ts'
import { checkOutput, type Output, openOutput, replaceFile } from '../files.ts'
import { BATCH_SIZE } from '../limits.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { checkCursor, readCursorFile, toCursorText } from '../transfer/cursor-file.ts'
import { createWriter, FORMATS, type Format, TARGETS, type Target, type Writer } from '../transfer/writing/formats.ts'
import { selectPages } from '../transfer/writing/selection.ts'
import { createStdout } from '../transfer/writing/sink.ts'
import { parseWholeNumber } from './arguments.ts'
import { type Exported, noteExported } from './export-summary.ts'
import { handOver } from './hand-over.ts'
import { withInterrupt } from './interrupt.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { createProgress } from './progress.ts'

interface ExportOptions extends ListOption {
  readonly format: Format
  readonly for?: Target
  readonly after?: number
  readonly limit?: number
  readonly cursorFile?: string
  readonly out?: string
  readonly includeReserved?: true
  readonly spreadsheetSafe?: true
  readonly follow?: true
  readonly exec?: string
  readonly batch?: number
}

/** `rollcall export`: writes the list, or the subscribers after a cursor. */
export function createExportCommand(): Command {
  return createListCommand(
    'export',
    'Write the list as CSV, NDJSON or one address per line',
    "rollcall export --cursor-file sync.cursor --format ndjson --exec './send-welcome'",
  )
    .addOption(new Option('--format <format>', 'Write this format').choices(FORMATS).default('csv'))
    .addOption(
      new Option('--for <program>', 'Write CSV with the columns that this program imports')
        .choices(TARGETS)
        .conflicts('format'),
    )
    .addOption(new Option('--after <cursor>', 'Start after this cursor').argParser(parseWholeNumber))
    .addOption(
      new Option(
        '--cursor-file <file>',
        'Start after the cursor in this file, and save the new cursor there',
      ).conflicts('after'),
    )
    .addOption(new Option('--limit <count>', 'Write at most this many addresses').argParser(parseWholeNumber))
    .option('--out <file>', 'Write to this file, which is replaced when the export is complete')
    .option('--include-reserved', 'Include addresses in reserved domains (example.org, .test and others)')
    .option('--spreadsheet-safe', 'Put an apostrophe before addresses that a spreadsheet runs as a formula')
    .option('--follow', 'With --exec: keep running, and hand over each new subscriber within a second')
    .addOption(
      new Option(
        '--exec <command>',
        'Write to the standard input of this shell command, and save the cursor when it exits with 0',
      ).conflicts('out'),
    )
    .addOption(
      new Option(
        '--batch <count>',
        `Run the command for at most this many addresses at a time (with --follow: ${BATCH_SIZE} by default)`,
      ).argParser(parseWholeNumber),
    )
    .action(async (options: ExportOptions) => {
      checkExec(options)
      await withStore(parseListOption(options), (store) => run(store, options))
    })
}

async function run(store: SubscriberStore, options: ExportOptions): Promise<void> {
  const { exec: command, cursorFile, out } = options
  if (command !== undefined && cursorFile !== undefined) {
    const writer = toWriter(options)
    const handOverAll = (signal: AbortSignal) => handOver(store, { ...options, command, cursorFile, writer }, signal)
    return noteExported(await withInterrupt(handOverAll))
  }
  // An export to standard output has no temporary file to remove: a signal may end it at once.
  return out ? withInterrupt((signal) => exportList(store, options, signal)) : exportList(store, options)
}

function toWriter({ format, for: target, spreadsheetSafe }: ExportOptions): Writer {
  return createWriter(format, { target, spreadsheetSafe })
}

/** @throws UsageError when an option needs another one */
function checkExec({ exec, cursorFile, batch, follow }: ExportOptions): void {
  if (exec !== undefined && cursorFile === undefined) throw new UsageError('--exec needs --cursor-file')
  if (follow && exec === undefined) throw new UsageError('--follow needs --exec')
  if (batch !== undefined && exec === undefined) throw new UsageError('--batch needs --exec')
  if (batch === 0) throw new UsageError('--batch is 0: use 1 or more')
}

async function exportList(store: SubscriberStore, options: ExportOptions, signal?: AbortSignal): Promise<void> {
  const { cursorFile, out } = options
  const start = cursorFile ? await readCursorFile(cursorFile) : { seq: options.after ?? 0 }
  const { seq: after, list: listId } = await checkCursor(store, start)
  if (cursorFile) await checkOutput(cursorFile)
  const sink = out ? await openOutput(out) : createStdout()
  try {
    const exported = await writePages(store, sink, { ...options, after, listId }, signal)
    await sink.finish()
    // Saved last: if the export fails before this, the next one writes the same rows again.
    if (cursorFile) await replaceFile(cursorFile, toCursorText({ seq: exported.cursor, list: listId }))
    noteExported(exported)
  } catch (error) {
    await sink.discard()
    throw error
  }
}

/** Returns how many rows an export will have; undefined when that is not known before. */
async function findTotal(
  store: SubscriberStore,
  { after, limit, includeReserved }: ExportOptions & { readonly after: number },
): Promise<number | undefined> {
  if (after > 0) return undefined
  const { subscribers, reserved } = await store.count()
  return Math.min(includeReserved ? subscribers : subscribers - reserved, limit ?? Number.POSITIVE_INFINITY)
}

async function writePages(
  store: SubscriberStore,
  sink: Output,
  options: ExportOptions & { readonly after: number; readonly listId: string },
  signal?: AbortSignal,
): Promise<Exported> {
  const { after } = options
  const { head, toText } = toWriter(options)
  const progress = await createProgress('exporting', {
    hasOutput: options.out === undefined,
    findTotal: () => findTotal(store, options),
  })
  let cursor = after
  let [rows, reserved] = [0, 0]
  try {
    if (head) await sink.write(head)
    for await (const page of selectPages(store, options)) {
      signal?.throwIfAborted()
      if (page.rows.length > 0) await sink.write(toText(page.rows))
      cursor = page.cursor
      rows += page.rows.length
      reserved += page.reserved
      progress.update(rows)
    }
  } finally {
    progress.stop()
  }
  return { rows, reserved, cursor }
}

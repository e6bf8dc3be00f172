import { type Command, Option } from 'commander'
import type { SubscriberStore } from '../subscriber.ts'
import { readCursorFile } from '../transfer/cursor-file.ts'
import {
  createWriter,
  FORMATS,
  type Format,
  isFormula,
  TARGETS,
  type Target,
} from '../transfer/writing/formats.ts'
import { select } from '../transfer/writing/selection.ts'
import { createFileSink, createStdout, replaceFile, type Sink } from '../transfer/writing/sink.ts'
import { parseWholeNumber } from './arguments.ts'
import { interruptible } from './interrupt.ts'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { note, toCount } from './output.ts'
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
}

/** `rollcall export`: the list, or what came behind a cursor, as text. */
export function createExportCommand(): Command {
  return createListCommand(
    'export',
    'write the list as CSV, NDJSON or one address a line',
    'rollcall export --cursor-file sync.cursor --format ndjson | ./send-welcome',
  )
    .addOption(new Option('--format <format>', 'how it is written').choices(FORMATS).default('csv'))
    .addOption(
      new Option('--for <program>', 'CSV with the columns that it imports')
        .choices(TARGETS)
        .conflicts('format'),
    )
    .addOption(
      new Option('--after <cursor>', 'only what came behind this cursor').argParser(parseWholeNumber),
    )
    .addOption(
      new Option(
        '--cursor-file <file>',
        'go on behind the cursor in this file, and keep the new one there',
      ).conflicts('after'),
    )
    .addOption(new Option('--limit <count>', 'at most this many').argParser(parseWholeNumber))
    .option('--out <file>', 'into this file, which appears when it is whole')
    .option('--include-reserved', 'addresses in the reserved domains as well (example.org, .test …)')
    .option('--spreadsheet-safe', 'put an apostrophe before what a spreadsheet takes for a formula')
    .addOption(new Option('--follow', 'stay, and write each new subscriber as it comes').conflicts('out'))
    .action(async (options: ExportOptions) => {
      await withStore(toList(options), (store) =>
        // Without a file of its own there is nothing to put away, and a signal ends the process as ever.
        options.out
          ? interruptible((signal) => exportList(store, options, signal))
          : exportList(store, options),
      )
    })
}

async function exportList(
  store: SubscriberStore,
  options: ExportOptions,
  signal?: AbortSignal,
): Promise<void> {
  const { cursorFile, out } = options
  const after = cursorFile ? await readCursorFile(cursorFile) : (options.after ?? 0)
  const sink = out ? await createFileSink(out) : createStdout()
  try {
    const { cursor, formulas } = await write(store, sink, { ...options, after }, signal)
    await sink.finish()
    if (cursorFile) await replaceFile(cursorFile, `${cursor}\n`)
    note(`cursor: ${cursor}`)
    if (formulas > 0) {
      note(
        `${toCount(formulas, 'address', 'addresses')} would be a formula in a spreadsheet (=, + or - in front): --spreadsheet-safe puts an apostrophe before`,
      )
    }
  } catch (error) {
    await sink.discard()
    throw error
  }
}

async function write(
  store: SubscriberStore,
  sink: Sink,
  options: ExportOptions & { readonly after: number },
  signal?: AbortSignal,
): Promise<{ cursor: number; formulas: number }> {
  const { format, for: target, spreadsheetSafe, after, cursorFile, follow } = options
  const { head, toText } = createWriter(format, { target, spreadsheetSafe })
  const isSheet = (target !== undefined || format === 'csv') && !spreadsheetSafe
  const progress = await createProgress(
    'exporting',
    async () => options.limit ?? (await store.count()).subscribers,
  )
  let cursor = after
  let rows = 0
  let formulas = 0
  try {
    if (head) await sink.write(head)
    for await (const page of select(store, options)) {
      signal?.throwIfAborted()
      if (page.rows.length > 0) await sink.write(toText(page.rows))
      cursor = page.cursor
      rows += page.rows.length
      if (isSheet) formulas += page.rows.filter(({ email }) => isFormula(email)).length
      progress.update(rows, rows)
      if (follow && cursorFile) await replaceFile(cursorFile, `${cursor}\n`)
    }
  } finally {
    progress.stop()
  }
  return { cursor, formulas }
}

import { UsageError } from '../failure.ts'
import { followLinks, writeOutput } from '../files.ts'
import { DAY_MS } from '../store/numbers.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile } from '../transfer/cursor-file.ts'
import { createWriter, type WriterOptions } from '../transfer/writing/formats.ts'
import { handOver } from '../transfer/writing/hand-over.ts'
import { type Exported, type Selection, writeSelection } from '../transfer/writing/selection.ts'
import { toCount } from '../words.ts'
import { note } from './output.ts'
import { parseListOption, type VerbOptions, withInterrupt, withStore } from './shared.ts'

interface ExportOptions extends VerbOptions, WriterOptions {
  readonly after?: number
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly cursorFile?: string
  readonly out?: string
  readonly includeReserved?: true
  readonly follow?: true
  readonly exec?: string
  readonly batch?: number
}

/** `rollcall export`: writes the list, or the subscribers after a cursor. */
export async function exportList(options: ExportOptions): Promise<void> {
  checkOptions(options)
  const selection = parseSelection(options)
  const list = parseListOption(options)
  const { exec: command, out = '-' } = options
  const writer = createWriter(options)
  using cursorFile = options.cursorFile === undefined ? undefined : await openCursorFile(options.cursorFile)
  // The cursor would replace the addresses.
  if (cursorFile && out !== '-' && followLinks(out) === cursorFile.path) {
    throw new UsageError('--out is the cursor file: choose another file')
  }
  const { rows, reserved, cursor } = await withStore(list, (store) =>
    withInterrupt(
      async (signal) =>
        command !== undefined && cursorFile
          ? await handOver(store, { ...options, command, cursorFile, writer, signal, note })
          : await writeList(store, out, { ...selection, writer, signal }, cursorFile),
      // The reader of standard output may never read the rest.
      command === undefined && out === '-' ? 'stopped: the output is not complete' : undefined,
    ),
  )
  note(`${toCount(rows, 'address', 'addresses')} exported`)
  if (reserved > 0) {
    const excluded = toCount(reserved, 'address', 'addresses')
    note(`${excluded} left out: the domain is reserved, such as example.org; use --include-reserved`)
  }
  // With a filter, an export after this cursor would leave out everybody else.
  if (options.since === undefined && options.until === undefined) note(`cursor: ${cursor}`)
}

/** @throws UsageError when an option needs another one, or its value does not fit */
function checkOptions({ exec, cursorFile, batch, follow, spreadsheetSafe, format }: ExportOptions): void {
  if (exec !== undefined && cursorFile === undefined) throw new UsageError('--exec needs --cursor-file')
  if (follow && exec === undefined) throw new UsageError('--follow needs --exec')
  if (batch !== undefined && exec === undefined) throw new UsageError('--batch needs --exec')
  if (spreadsheetSafe && format !== 'csv') throw new UsageError('--spreadsheet-safe is for CSV')
  if (batch === 0) throw new UsageError('--batch is 0: use 1 or more')
}

/** Parses a day, or a time (RFC 3339), which is in UTC without an offset. It may be in the future. @throws UsageError */
function parseTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = text.includes(':') ? text : `${text}T00:00`
  try {
    const instant = Temporal.Instant.from(/(?:Z|[+-]\d\d:\d\d)$/i.test(time) ? time : `${time}Z`)
    return new Date(instant.epochMilliseconds)
  } catch {
    throw new UsageError(`${option} is "${text}": use a day such as 2026-11-22, or a time such as 2026-11-22T09:00:00Z`)
  }
}

/** A day of `--until` ends at midnight UTC. @throws UsageError */
function parseSelection({ since, until, after = 0, limit, includeReserved }: ExportOptions) {
  const end = parseTime('--until', until)
  const before = end && !until?.includes(':') ? new Date(end.getTime() + DAY_MS) : end
  return { after, limit, includeReserved, since: parseTime('--since', since), before }
}

/** Writes to a file, or `-`, and then saves the cursor. */
async function writeList(
  store: SubscriberStore,
  out: string,
  selection: Selection,
  cursorFile: CursorFile | undefined,
): Promise<Exported> {
  const start = checkCursor(await store.head(), cursorFile?.cursor ?? { seq: selection.after })
  const exported = await writeOutput(out, async (write) => {
    const written = await writeSelection(store, { ...selection, after: start.seq }, write)
    if (written.rows === 0) await write(selection.writer.header)
    return written
  })
  // Last: if the export fails before this, the next one writes the same rows again.
  await cursorFile?.save({ ...start, seq: exported.cursor })
  return exported
}

import { resolve } from 'node:path'
import { toSignalExitCode, UsageError } from '../failure.ts'
import { type Write, writeOutput } from '../files.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile } from '../transfer/cursor-file.ts'
import { parseDate } from '../transfer/reading/dates.ts'
import { createWriter, type Format, type Target } from '../transfer/writing/formats.ts'
import { handOver } from '../transfer/writing/hand-over.ts'
import { type Exported, type Selection, writeSelection } from '../transfer/writing/selection.ts'
import { createProgress, note, toCount, writeData } from './output.ts'
import { type ListOption, parseListOption, withInterrupt, withStore } from './shared.ts'

export interface ExportOptions extends ListOption {
  readonly format: Format
  readonly for?: Target
  readonly after?: number
  readonly since?: string
  readonly until?: string
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
export async function exportList(options: ExportOptions): Promise<void> {
  checkOptions(options)
  const { cursorFile: file, exec: command, limit, includeReserved, after = 0 } = options
  const selection = { after, limit, includeReserved, ...parseDays(options) }
  const list = parseListOption(options)
  const cursorFile = file === undefined ? undefined : await openCursorFile(file)
  try {
    const exported = await withStore(list, async (store) => {
      if (command === undefined || !cursorFile) return await writeList(store, selection, options, cursorFile)
      const writer = toWriter(options)
      return await withInterrupt((signal) => handOver(store, { ...options, command, cursorFile, writer, signal, note }))
    })
    noteExported(exported)
  } finally {
    cursorFile?.close()
  }
}

/** @throws UsageError when an option needs or excludes another one */
function checkOptions({ exec, cursorFile, batch, follow, since, until, out }: ExportOptions): void {
  // The cursor would pass everybody else.
  if (cursorFile !== undefined && (since ?? until) !== undefined) {
    throw new UsageError('--since and --until do not go with --cursor-file')
  }
  // The cursor would replace the addresses.
  if (cursorFile !== undefined && out !== undefined && resolve(out) === resolve(cursorFile)) {
    throw new UsageError('--out is the cursor file: choose another file')
  }
  if (exec !== undefined && cursorFile === undefined) throw new UsageError('--exec needs --cursor-file')
  if (follow && exec === undefined) throw new UsageError('--follow needs --exec')
  if (batch !== undefined && exec === undefined) throw new UsageError('--batch needs --exec')
  if (batch === 0) throw new UsageError('--batch is 0: use 1 or more')
}

/** Days and times of `--since` and `--until`. A day ends at midnight UTC. @throws UsageError */
function parseDays({ since, until }: ExportOptions): Pick<Selection, 'since' | 'before'> {
  const parse = (option: string, text: string | undefined) => {
    const parsed = parseDate(text ?? '')
    if (parsed.ok && !(text && parsed.value === undefined)) return parsed.value
    throw new UsageError(`${option} is "${text}": use a day such as 2026-11-22, or a time such as 2026-11-22T09:00:00Z`)
  }
  const end = parse('--until', until)
  const isDay = !until?.includes(':')
  return { since: parse('--since', since), before: end && isDay ? new Date(end.getTime() + 86_400_000) : end }
}

function toWriter({ format, for: target, spreadsheetSafe }: ExportOptions) {
  return createWriter(format, { target, spreadsheetSafe })
}

/** Writes to the file that `--out` names, or to standard output, and then saves the cursor. */
async function writeList(
  store: SubscriberStore,
  selection: Selection,
  options: ExportOptions,
  cursorFile: CursorFile | undefined,
): Promise<Exported> {
  const { out, limit } = options
  const start = checkCursor(await store.head(), cursorFile?.cursor ?? { seq: selection.after })
  const total = start.seq > 0 || limit !== undefined ? 0 : (await store.count()).subscribers
  const showProgress = createProgress('exporting', { hasOutput: out === undefined })
  const onPage = (rows: number) => showProgress(rows, total)
  async function writeTo(write: Write, signal?: AbortSignal): Promise<Exported> {
    const writer = toWriter(options)
    const exported = await writeSelection(store, { ...selection, after: start.seq }, { writer, write, signal, onPage })
    if (exported.rows === 0) await write(writer.header)
    return exported
  }
  // Last: if the export fails before this, the next one writes the same rows again.
  async function save(exported: Exported): Promise<Exported> {
    await cursorFile?.save({ ...start, seq: exported.cursor })
    return exported
  }
  if (out !== undefined) {
    return await withInterrupt(async (signal) => save(await writeOutput(out, (write) => writeTo(write, signal))))
  }
  using _ended = endAtSignal()
  return await save(await writeTo(writeData))
}

/** Ends the process at a signal, and says that the output is not complete. Does not wait: the reader may never read the rest. */
function endAtSignal(): Disposable {
  const end = (name: NodeJS.Signals) => {
    note('rollcall: stopped: the output is not complete')
    process.exit(toSignalExitCode(name))
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  return { [Symbol.dispose]: () => void process.off('SIGINT', end).off('SIGTERM', end) }
}

function noteExported({ rows, reserved, cursor }: Exported): void {
  note(`${toCount(rows, 'address', 'addresses')} exported`)
  if (reserved > 0) {
    const excluded = toCount(reserved, 'address', 'addresses')
    note(`${excluded} left out: the domain is reserved, such as example.org; use --include-reserved`)
  }
  note(`cursor: ${cursor}`)
}

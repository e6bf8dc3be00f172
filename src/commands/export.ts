import type { ListUrl } from '../config/list-url.ts'
import { toSignalExitCode, UsageError } from '../failure.ts'
import { type Output, writeAll, writeOutput } from '../files.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile } from '../transfer/cursor-file.ts'
import { parseDate } from '../transfer/reading/dates.ts'
import { createWriter, type Format, type Target, type Writer } from '../transfer/writing/formats.ts'
import { type Exported, handOver } from '../transfer/writing/hand-over.ts'
import { type Selection, selectPages } from '../transfer/writing/selection.ts'
import { createProgress, note, toCount } from './output.ts'
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
  const { cursorFile: file, exec: command } = options
  const list = parseListOption(options)
  const cursorFile = file === undefined ? undefined : await openCursorFile(file, list)
  try {
    const exported = await withStore(list, async (store) => {
      if (command === undefined || !cursorFile) return await writeList(store, list, options, cursorFile)
      const writer = toWriter(options)
      return await withInterrupt((signal) => handOver(store, { ...options, command, cursorFile, writer, signal, note }))
    })
    noteExported(exported)
  } finally {
    cursorFile?.close()
  }
}

/** @throws UsageError when an option needs another one */
function checkOptions(options: ExportOptions): void {
  const { exec, cursorFile, batch, follow, since, until } = options
  parseDays(options)
  // The cursor would pass everybody else.
  if (cursorFile !== undefined && (since ?? until) !== undefined) {
    throw new UsageError('--since and --until do not go with --cursor-file')
  }
  if (exec !== undefined && cursorFile === undefined) throw new UsageError('--exec needs --cursor-file')
  if (follow && exec === undefined) throw new UsageError('--follow needs --exec')
  if (batch !== undefined && exec === undefined) throw new UsageError('--batch needs --exec')
  if (batch === 0) throw new UsageError('--batch is 0: use 1 or more')
}

/** Days and times of `--since` and `--until`. A day ends at midnight UTC. @throws UsageError */
function parseDays({ since, until }: ExportOptions): Required<Pick<Selection, 'since' | 'before'>> {
  const parse = (option: string, text: string | undefined) => {
    const parsed = parseDate(text ?? '')
    if (parsed.ok && !(text && parsed.value === undefined)) return parsed.value
    throw new UsageError(`${option} is "${text}": use a day such as 2026-11-22, or a time such as 2026-11-22T09:00:00Z`)
  }
  const end = parse('--until', until)
  const isDay = !until?.includes(':')
  return { since: parse('--since', since), before: end && isDay ? new Date(end.getTime() + 86_400_000) : end }
}

function toWriter({ format, for: target, spreadsheetSafe }: ExportOptions): Writer {
  return createWriter(format, { target, spreadsheetSafe })
}

/** Writes to the file that `--out` names, or to standard output, and then saves the cursor. */
async function writeList(
  store: SubscriberStore,
  list: ListUrl,
  options: ExportOptions,
  cursorFile: CursorFile | undefined,
): Promise<Exported> {
  const { out, after = 0 } = options
  const start = checkCursor(await store.head(), cursorFile?.cursor ?? { seq: after, list: undefined })
  async function write(output: Output, signal?: AbortSignal): Promise<Exported> {
    if (output.path === cursorFile?.path) throw new UsageError('--out is the cursor file: choose another file')
    return await writePages(store, output, { ...options, after: start.seq, signal })
  }
  // Last: if the export fails before this, the next one writes the same rows again.
  async function save(exported: Exported): Promise<Exported> {
    await cursorFile?.save({ ...start, seq: exported.cursor })
    return exported
  }
  if (out !== undefined) {
    return await withInterrupt(async (signal) => save(await writeOutput(out, list, (output) => write(output, signal))))
  }
  using _ended = endAtSignal()
  return await save(await write(STDOUT))
}

const STDOUT: Output = {
  path: '/dev/stdout',
  write: (text) => writeAll(process.stdout.fd, text, 'standard output'),
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

async function writePages(
  store: SubscriberStore,
  output: Output,
  options: ExportOptions & { readonly after: number; readonly signal: AbortSignal | undefined },
): Promise<Exported> {
  const { after, signal } = options
  const writer = toWriter(options)
  const showProgress = createProgress('exporting', { hasOutput: options.out === undefined })
  const total = after > 0 || options.limit !== undefined ? 0 : (await store.count()).subscribers
  let [rows, reserved, cursor] = [0, 0, after]
  if (writer.header) await output.write(writer.header)
  for await (const page of selectPages(store, { ...options, until: undefined, ...parseDays(options) })) {
    signal?.throwIfAborted()
    if (page.rows.length > 0) await output.write(writer.write(page.rows))
    rows += page.rows.length
    reserved += page.reserved
    cursor = page.cursor
    showProgress(rows, total)
  }
  return { rows, reserved, cursor }
}

function noteExported({ rows, reserved, cursor }: Exported): void {
  note(`${toCount(rows, 'address', 'addresses')} exported`)
  if (reserved > 0) {
    const excluded = toCount(reserved, 'address', 'addresses')
    note(`${excluded} left out: the domain is reserved, such as example.org; use --include-reserved`)
  }
  note(`cursor: ${cursor}`)
}

import type { ListUrl } from '../config/list-url.ts'
import { toSignalExitCode, UsageError } from '../failure.ts'
import { type Output, openOutput, writeAll } from '../files.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { type CursorFile, checkCursor, openCursorFile } from '../transfer/cursor-file.ts'
import { createWriter, type Format, type Target } from '../transfer/writing/formats.ts'
import { type Exported, handOver } from '../transfer/writing/hand-over.ts'
import { selectPages } from '../transfer/writing/selection.ts'
import { type ListOption, parseListOption, withInterrupt, withStore } from './list-command.ts'
import { createProgress, note, toCount } from './output.ts'

export interface ExportOptions extends ListOption {
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
export async function exportList(options: ExportOptions): Promise<void> {
  const { cursorFile } = options
  checkOptions(options)
  const list = parseListOption(options)
  const opened = cursorFile === undefined ? undefined : await openCursorFile(cursorFile, list)
  try {
    noteExported(await withStore(list, (store) => run(store, { ...options, url: list, opened })))
  } finally {
    opened?.close()
  }
}

/** @throws UsageError when an option needs another one */
function checkOptions({ exec, cursorFile, batch, follow }: ExportOptions): void {
  if (exec !== undefined && cursorFile === undefined) throw new UsageError('--exec needs --cursor-file')
  if (follow && exec === undefined) throw new UsageError('--follow needs --exec')
  if (batch !== undefined && exec === undefined) throw new UsageError('--batch needs --exec')
  if (batch === 0) throw new UsageError('--batch is 0: use 1 or more')
}

interface RunOptions extends ExportOptions {
  readonly url: ListUrl
  readonly opened: CursorFile | undefined
}

async function run(store: SubscriberStore, options: RunOptions): Promise<Exported> {
  const { exec: command, opened: cursorFile, out, url } = options
  const { format, for: target, spreadsheetSafe } = options
  const writer = createWriter(format, { target, spreadsheetSafe })
  if (command !== undefined && cursorFile) {
    return await withInterrupt((signal) => handOver(store, { ...options, command, cursorFile, writer, signal, note }))
  }
  if (out === undefined) {
    using _ended = endAtSignal()
    return await writeAllPages(store, { ...options, writer, output: STDOUT })
  }
  return await withInterrupt(async (signal) => {
    const output = await openOutput(out, url)
    return await writeAllPages(store, { ...options, writer, output, signal })
  })
}

const STDOUT: Output = {
  write: (text) => writeAll(process.stdout.fd, text, 'standard output'),
  async finish() {},
  async discard() {},
}

/** Ends the process at a signal, and says what is missing. It cannot wait, because a reader may never take the rest. */
function endAtSignal(): Disposable {
  const end = (name: NodeJS.Signals) => {
    note('rollcall: stopped: the output is not complete')
    process.exit(toSignalExitCode(name))
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  return { [Symbol.dispose]: () => void process.off('SIGINT', end).off('SIGTERM', end) }
}

interface WriteOptions extends RunOptions {
  readonly writer: ReturnType<typeof createWriter>
  readonly output: Output
  readonly signal?: AbortSignal
}

async function writeAllPages(store: SubscriberStore, options: WriteOptions): Promise<Exported> {
  const { opened, output } = options
  try {
    const start = await checkCursor(store, opened?.cursor ?? { seq: options.after ?? 0 })
    const exported = await writePages(store, start.seq, options)
    await output.finish()
    // Saved last: if the export fails before this, the next one writes the same rows again.
    await opened?.save({ ...start, seq: exported.cursor })
    return exported
  } catch (error) {
    await output.discard()
    throw error
  }
}

async function writePages(store: SubscriberStore, after: number, options: WriteOptions): Promise<Exported> {
  const { writer, output, signal } = options
  const progress = createProgress('exporting', { hasOutput: options.out === undefined })
  const total = after > 0 || options.limit !== undefined ? 0 : (await store.count()).subscribers
  let [rows, reserved, cursor] = [0, 0, after]
  try {
    if (writer.head) await output.write(writer.head)
    for await (const page of selectPages(store, { ...options, after })) {
      signal?.throwIfAborted()
      if (page.rows.length > 0) await output.write(writer.toText(page.rows))
      rows += page.rows.length
      reserved += page.reserved
      cursor = page.cursor
      progress.update(rows, total)
    }
  } finally {
    progress.stop()
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

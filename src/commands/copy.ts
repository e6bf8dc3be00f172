import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { checkTarget } from '../complete-file.ts'
import { type ListUrl, parseListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { readFileId } from '../store/sqlite/file.ts'
import type { ImportTally, Subscriber, SubscriberStore } from '../subscriber.ts'
import { checkSignal, importRows } from '../transfer/batch-import.ts'
import { toBatches } from '../transfer/batches.ts'
import { type Cursor, checkCursor, readCursorFile, toCursorText } from '../transfer/cursor-file.ts'
import { replaceFile } from '../transfer/writing/sink.ts'
import { withInterrupt } from './interrupt.ts'
import { createCommand, withStore } from './list-command.ts'
import { note, print, printJson, toCount } from './output.ts'
import { createProgress } from './progress.ts'

interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly cursorFile?: string
  readonly json?: true
}

/** Suppressions in a batch. Large, because the target checks all its subscribers against each batch. */
const SUPPRESSION_BATCH = 50_000

/** `rollcall copy`: copies a list to another store. */
export function createCopyCommand(): Command {
  return createCommand(
    'copy',
    'Copy a list to another store, with order, dates and suppressions, also while the service runs',
    'rollcall copy --from sqlite:data/rollcall.db --to postgres://rollcall@db.example.org/rollcall',
  )
    .requiredOption('--from <url>', 'Copy this list')
    .requiredOption('--to <url>', 'Copy to this list, which is created if it is missing')
    .option('--cursor-file <file>', 'Start after the cursor in this file, and save the new cursor there')
    .option('--json', 'Print the summary as JSON')
    .action(async (options: CopyOptions) => {
      const [source, target] = [parseListUrl('--from', options.from), parseListUrl('--to', options.to)]
      refuseSameFile(source, target)
      const start = await readCursor(options)
      await withStore(source, (from) =>
        withStore(target, (to) => withInterrupt((signal) => copy(from, to, { ...options, start }, signal)), {
          create: true,
        }),
      )
    })
}

/** Before a list is opened under two names: SQLite keeps a log (WAL) for each name. */
function refuseSameFile(source: ListUrl, target: ListUrl): void {
  if (source.kind !== 'sqlite' || target.kind !== 'sqlite') return
  if (![source.file, target.file].every((file) => existsSync(file))) return
  if (readFileId(source.file) === readFileId(target.file)) throw createSameListError()
}

const createSameListError = () => new UsageError('--from and --to are the same list')

async function copy(
  from: SubscriberStore,
  to: SubscriberStore,
  { start, cursorFile, json }: CopyOptions & { readonly start: Cursor },
  signal: AbortSignal,
): Promise<void> {
  if ((await from.id()) === (await to.id())) throw createSameListError()
  const { seq: after, list } = await checkCursor(from, start)
  // Suppressions first, so that a suppressed address is never on the target.
  const suppressions = await copySuppressions(from, to, signal)
  const { tally, cursor } = await copySubscribers(from, to, after, signal)
  await verify(to, tally)
  if (cursorFile) await replaceFile(cursorFile, toCursorText({ seq: cursor, list }))
  if (json) return await printJson('copy', { ...tally, suppressions, cursor })
  const { added, known, suppressed } = tally
  note(`cursor: ${cursor}`)
  await print(`${added} new, ${known} known, ${suppressed} suppressed; ${toCount(suppressions, 'suppression')} copied`)
}

async function readCursor({ cursorFile }: CopyOptions): Promise<Cursor> {
  if (!cursorFile) return { seq: 0 }
  await checkTarget(cursorFile)
  return await readCursorFile(cursorFile)
}

async function copySuppressions(from: SubscriberStore, to: SubscriberStore, signal: AbortSignal): Promise<number> {
  let count = 0
  for await (const batch of toBatches(from.listSuppressions(), SUPPRESSION_BATCH)) {
    await checkSignal(signal)
    await to.mergeSuppressions(batch, signal)
    count += batch.length
  }
  return count
}

async function copySubscribers(
  from: SubscriberStore,
  to: SubscriberStore,
  after: number,
  signal: AbortSignal,
): Promise<{ tally: ImportTally; cursor: number }> {
  const progress = await createProgress('copying', { findTotal: async () => (await from.count()).subscribers })
  let cursor = after

  async function* readPages(): AsyncGenerator<readonly Subscriber[]> {
    for await (const page of from.list({ after })) {
      yield page
      cursor = page.at(-1)?.seq ?? cursor
    }
  }

  function onBatch({ added, known, suppressed }: ImportTally): void {
    const rows = added + known + suppressed
    progress.update(rows)
  }

  try {
    const target = { import: to.mergeSubscribers, importSize: to.importSize }
    const tally = await importRows(target, readPages(), { onBatch, signal })
    return { tally, cursor }
  } finally {
    progress.stop()
  }
}

/** Compares the size of the target with what was copied. @throws Failure */
async function verify(to: SubscriberStore, { added, known }: ImportTally): Promise<void> {
  const { subscribers } = await to.count()
  if (subscribers >= added + known) return
  throw new Failure(
    `the target has ${subscribers} addresses, but ${added + known} were copied: if none were removed from it meanwhile, the copy is incomplete; copy again`,
  )
}

import type { Command } from 'commander'
import { parseListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { toListName } from '../store/open.ts'
import type { ImportTally, Subscriber, SubscriberStore } from '../subscriber.ts'
import { toBatches } from '../transfer/batches.ts'
import { readCursorFile } from '../transfer/cursor-file.ts'
import { importRows } from '../transfer/import.ts'
import { replaceFile } from '../transfer/writing/sink.ts'
import { interruptible } from './interrupt.ts'
import { createCommand, withStore } from './list.ts'
import { note, print, printJson } from './output.ts'
import { createProgress } from './progress.ts'

interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly cursorFile?: string
  readonly json?: true
}

/** Removals that are taken over at once: each time, the whole target is held against them. */
const REMOVALS = 50_000

/** `rollcall copy`: a list with its order, dates and suppressions, to another store. */
export function createCopyCommand(): Command {
  return createCommand(
    'copy',
    'copy a list to another store, with order, dates and suppressions; it may be in use, and the copy repeated',
    'rollcall copy --from sqlite:data/rollcall.db --to postgres://rollcall@db.example.org/rollcall',
  )
    .requiredOption('--from <url>', 'the list')
    .requiredOption('--to <url>', 'where it goes; made if it is missing')
    .option('--cursor-file <file>', 'go on behind the cursor in this file, and keep the new one there')
    .option('--json', 'the summary as JSON')
    .action(async (options: CopyOptions) => {
      const [source, target] = [parseListUrl('--from', options.from), parseListUrl('--to', options.to)]
      if (toListName(source) === toListName(target)) throw new UsageError('--from and --to are the same list')
      await withStore(source, (from) =>
        withStore(target, (to) => interruptible((signal) => copy(from, to, options, signal)), {
          create: true,
        }),
      )
    })
}

async function copy(
  from: SubscriberStore,
  to: SubscriberStore,
  { cursorFile, json }: CopyOptions,
  signal: AbortSignal,
): Promise<void> {
  const suppressions = await copySuppressions(from, to, signal)
  const after = cursorFile ? await readCursorFile(cursorFile) : 0
  const { tally, cursor } = await copySubscribers(from, to, after, signal)
  await verify(to, tally)
  if (cursorFile) await replaceFile(cursorFile, `${cursor}\n`)
  note(`cursor: ${cursor}`)
  if (json) return await printJson({ ...tally, suppressions, cursor })
  await print(
    `${tally.added} copied, ${tally.known} there already, ${tally.suppressed} left out because they are suppressed there; ${suppressions} suppressions`,
  )
}

/** First, so that nobody who has been removed is on the target even for a moment. */
async function copySuppressions(
  from: SubscriberStore,
  to: SubscriberStore,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  for await (const batch of toBatches(from.listSuppressions(), REMOVALS)) {
    signal.throwIfAborted()
    await to.mergeSuppressions(batch)
    count += batch.length
  }
  return count
}

async function copySubscribers(
  from: SubscriberStore,
  to: SubscriberStore,
  after: number,
  signal: AbortSignal,
) {
  const progress = await createProgress('copying', async () => (await from.count()).subscribers)
  let cursor = after

  async function* walk(): AsyncGenerator<readonly Subscriber[]> {
    for await (const page of from.list({ after })) {
      yield page
      cursor = page.at(-1)?.seq ?? cursor
    }
  }

  try {
    const onBatch = ({ added, known, suppressed }: ImportTally) => {
      const rows = added + known + suppressed
      progress.update(rows, rows)
    }
    const tally = await importRows(to, walk(), { onBatch, signal })
    return { tally, cursor }
  } finally {
    progress.stop()
  }
}

/** Holds what the target says of itself against what was given to it. */
async function verify(to: SubscriberStore, { added, known }: ImportTally): Promise<void> {
  const { subscribers } = await to.count()
  if (subscribers >= added + known) return
  throw new Failure(
    `the target holds ${subscribers} addresses, and should hold ${added + known} or more: addresses were suppressed from it meanwhile, or something is wrong; copy again`,
  )
}

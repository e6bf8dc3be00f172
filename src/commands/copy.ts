import { existsSync } from 'node:fs'
import { type ListUrl, parseListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { readFileId } from '../store/sqlite/file.ts'
import type { ImportTally, SubscriberStore } from '../subscriber.ts'
import { checkSignal, importRows } from '../transfer/batch-import.ts'
import { toBatches } from '../transfer/batches.ts'
import { withInterrupt, withStore } from './list-command.ts'
import { createProgress, print, printJson, toCount } from './output.ts'

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly json?: true
}

/** Suppressions in a batch. Large, because the target checks all its subscribers against each batch. */
const SUPPRESSION_BATCH = 50_000

/** `rollcall copy`: copies a list to another store. */
export async function copyList(options: CopyOptions): Promise<void> {
  const [source, target] = [parseListUrl('--from', options.from), parseListUrl('--to', options.to)]
  refuseSameFile(source, target)
  await withStore(source, (from) =>
    withStore(target, (to) => withInterrupt((signal) => copy(from, to, options, signal)), { create: true }),
  )
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
  { json }: CopyOptions,
  signal: AbortSignal,
): Promise<void> {
  if ((await from.id()) === (await to.id())) throw createSameListError()
  // Suppressions first, so that a suppressed address is never on the target.
  const suppressions = await copySuppressions(from, to, signal)
  const tally = await copySubscribers(from, to, signal)
  await verify(to, tally)
  if (json) return await printJson({ ...tally, suppressions })
  const { added, known, suppressed } = tally
  await print(`${added} new, ${known} known, ${suppressed} suppressed; ${toCount(suppressions, 'suppression')} copied`)
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

async function copySubscribers(from: SubscriberStore, to: SubscriberStore, signal: AbortSignal): Promise<ImportTally> {
  const progress = createProgress('copying')
  const total = (await from.count()).subscribers
  function onBatch({ added, known, suppressed }: ImportTally): void {
    const rows = added + known + suppressed
    progress.update(rows, total)
  }

  try {
    const target = { import: to.mergeSubscribers, importSize: to.importSize }
    return await importRows(target, from.list(), { onBatch, signal })
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

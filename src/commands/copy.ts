import { existsSync } from 'node:fs'
import { type ListUrl, parseListUrl } from '../config/list-url.ts'
import { UsageError } from '../failure.ts'
import { readFileId } from '../store/sqlite/file.ts'
import type { Subscriber, SubscriberStore } from '../subscriber.ts'
import { checkSignal, withInterrupt, withStore } from './list-command.ts'
import { createProgress, print, printJson, toCount } from './output.ts'

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly json?: true
}

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
  if (readFileId(source.file) === readFileId(target.file)) {
    throw new UsageError('--from and --to are the same list')
  }
}

async function copy(
  from: SubscriberStore,
  to: SubscriberStore,
  { json }: CopyOptions,
  signal: AbortSignal,
): Promise<void> {
  const head = await from.head()
  const total = (await from.count()).subscribers
  const progress = createProgress('copying')
  let rows = 0

  async function* readPages(): AsyncGenerator<readonly Subscriber[]> {
    for await (const page of from.list()) {
      await checkSignal(signal)
      yield page
      rows += page.length
      progress.update(rows, total)
    }
  }

  try {
    const count = await to.fill({ head, subscribers: readPages(), suppressions: from.listSuppressions() })
    if (json) return await printJson({ ...count })
    await print(`${toCount(count.subscribers, 'address', 'addresses')}, ${count.suppressed} suppressed`)
  } finally {
    progress.stop()
  }
}

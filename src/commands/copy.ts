import { existsSync } from 'node:fs'
import { type ListUrl, parseListUrl, toListName } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { readFileId } from '../store/sqlite/file.ts'
import type { Count, ListCopy, SubscriberStore } from '../subscriber.ts'
import { checkSignal, withInterrupt, withStore } from './list-command.ts'
import { createProgress, print, printJson, toCount } from './output.ts'

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly json?: true
}

/** `rollcall copy`: makes an empty list a copy of another one. */
export async function copyList(options: CopyOptions): Promise<void> {
  const [source, target] = [parseListUrl('--from', options.from), parseListUrl('--to', options.to)]
  refuseSameFile(source, target)
  const count = await withStore(source, (from) =>
    withStore(target, (to) => withInterrupt((signal) => copy(from, to, signal)), { create: true }),
  )
  const names = { from: toListName(source), to: toListName(target) }
  if (options.json) return await printJson({ ...names, ...count })
  const addresses = toCount(count.subscribers, 'address', 'addresses')
  await print(
    `${names.to} is a copy of ${names.from}: ${addresses}, ${count.suppressed.toLocaleString('en')} suppressed`,
  )
}

/** Call it before the lists are opened: SQLite keeps a log (WAL) for each name of a file. @throws UsageError */
function refuseSameFile(source: ListUrl, target: ListUrl): void {
  if (source.kind !== 'sqlite' || target.kind !== 'sqlite') return
  if (![source.file, target.file].every((file) => existsSync(file))) return
  if (readFileId(source.file) === readFileId(target.file)) throw new UsageError('--from and --to are the same list')
}

/**
 * Makes an empty list a copy of another one, in one transaction.
 *
 * @throws StoreError when the target is not empty; Failure when the list changes meanwhile, or the copy differs from it
 */
export async function copy(from: SubscriberStore, to: SubscriberStore, signal: AbortSignal): Promise<Count> {
  const total = (await from.count()).subscribers
  // After the count, which gives the addresses of the inbox their numbers.
  const head = await from.head()
  const progress = createProgress('copying')
  const onRows = async (rows: number) => {
    await checkSignal(signal)
    progress.update(rows, total)
  }
  const digest = async (store: SubscriberStore) => {
    const read = createDigest(store, head.lastSeq, () => checkSignal(signal))
    await drain(read.subscribers)
    await drain(read.suppressions)
    return read.finish()
  }
  const sent = createDigest(from, head.lastSeq, onRows)
  let expected = ''

  async function* readSuppressions() {
    yield* sent.suppressions
    expected = sent.finish()
    // Somebody who was removed in between would be on the copy, and suppressed.
    if ((await digest(from)) === expected) return
    throw new Failure('somebody changed the list meanwhile: nothing was copied. Copy again')
  }

  try {
    const count = await to.fill({ head, subscribers: sent.subscribers, suppressions: readSuppressions() })
    if ((await digest(to)) === expected) return count
    throw new Failure('the copy differs from the list: delete it, and copy again')
  } finally {
    progress.stop()
  }
}

interface DigestedCopy extends Omit<ListCopy, 'head'> {
  /** Returns the digest of everything that was read. */
  finish(): string
}

/** Reads the subscribers up to `lastSeq` and the suppressions of a list, and computes a digest of them. */
function createDigest(store: SubscriberStore, lastSeq: number, onRows: (rows: number) => Promise<void>): DigestedCopy {
  const hash = new Bun.CryptoHasher('sha256')
  async function* readSubscribers() {
    let rows = 0
    for await (const listed of store.list()) {
      const page = listed.filter(({ seq }) => seq <= lastSeq)
      for (const { seq, email, subscribedAt } of page) hash.update(`${seq} ${email} ${subscribedAt.getTime()}\n`)
      rows += page.length
      await onRows(rows)
      if (page.length > 0) yield page
    }
  }
  async function* readSuppressions() {
    for await (const page of store.listSuppressions()) {
      for (const { hash: address, suppressedAt } of page) hash.update(address).update(` ${suppressedAt.getTime()}\n`)
      yield page
    }
  }
  return { subscribers: readSubscribers(), suppressions: readSuppressions(), finish: () => hash.digest('hex') }
}

async function drain(pages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pages);
}

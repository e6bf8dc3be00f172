/**
 * Group commit: addresses that arrive during a commit go into the next one together, so that one fsync serves
 * many requests (DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984).
 * The deadline of an address is here too, because it must fire even while a commit hangs.
 */

import type { Address } from '../email.ts'

/** Writes a batch. Resolves when all of it is on stable storage; rejects when it may not be. */
export type Commit = (batch: readonly Address[]) => Promise<void>

export interface GroupCommitOptions {
  /** Milliseconds after which an unconfirmed address is given up. */
  readonly deadlineMs: number
  /** Called with the error when the deadline of addresses has passed. */
  readonly onExpired: (error: Error) => void
}

export interface GroupCommit {
  /**
   * Adds an address to the next commit.
   *
   * @returns a promise that its batch shares. It resolves when the address is on stable storage, and rejects when
   * the commit failed or the deadline passed (the address may be stored even so).
   */
  add(address: Address): Promise<void>
  /** Number of addresses that wait for a commit or are in one. */
  pending(): number
}

/** Addresses that arrived within one tick of the clock, at most MAX_BATCH. They share a deadline and a promise. */
interface Batch {
  readonly addresses: Address[]
  readonly expires: number
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: Error) => void
}

/** Maximum number of addresses in one commit. */
export const MAX_BATCH = 8192

/** Precision of the deadline in milliseconds: addresses are given up so much earlier or later. */
const TICK_MS = 100

/** Maximum number of turns of the event loop that a commit waits while each turn brings more addresses. */
const BURST_TURNS = 4

/** Collects single addresses into commits. Calls `commit` again only when its last promise has settled. */
export function createGroupCommit(commit: Commit, options: GroupCommitOptions): GroupCommit {
  const { deadlineMs, onExpired } = options
  let waiting: Batch[] = []
  let committing: readonly Batch[] = []
  let isFlushScheduled = false
  let arrived = 0
  let clock: Timer | undefined

  function add(address: Address): Promise<void> {
    const now = performance.now()
    let batch = waiting.at(-1)
    if (!batch || batch.addresses.length >= MAX_BATCH || now > batch.expires - deadlineMs + TICK_MS) {
      batch = createBatch(now + deadlineMs)
      waiting.push(batch)
    }
    batch.addresses.push(address)
    arrived++
    scheduleFlush()
    return batch.promise
  }

  // Requests come in bursts, and a commit costs the same for few and for many. So a commit waits a few turns of the
  // event loop as long as each turn brings more addresses.
  function scheduleFlush(): void {
    if (isFlushScheduled || committing.length > 0) return
    isFlushScheduled = true
    waitForBurst(BURST_TURNS, 0)
  }

  function waitForBurst(turns: number, seen: number): void {
    setImmediate(() => {
      if (turns > 0 && arrived > seen) return waitForBurst(turns - 1, arrived)
      isFlushScheduled = false
      flush()
    })
  }

  function flush(): void {
    if (waiting.length === 0) return
    clock ??= setInterval(giveUpExpired, TICK_MS)
    committing = takeWaiting()
    commit(toAddresses(committing)).then(
      () => finish((batch) => batch.resolve()),
      (error) => finish((batch) => batch.reject(error)),
    )
  }

  function takeWaiting(): readonly Batch[] {
    let size = 0
    const end = waiting.findIndex(({ addresses }) => {
      size += addresses.length
      return size > MAX_BATCH
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  function finish(settle: (batch: Batch) => void): void {
    for (const batch of committing) settle(batch)
    committing = []
    if (waiting.length > 0) scheduleFlush()
  }

  function giveUpExpired(): void {
    const now = performance.now()
    const isExpired = (batch: Batch) => batch.expires <= now
    const expired = [...waiting, ...committing].filter(isExpired)
    if (expired.length > 0) {
      const error = new Error(`the store did not confirm within ${deadlineMs} ms`)
      for (const batch of expired) batch.reject(error)
      onExpired(error)
    }
    // Drops addresses that no commit has, so that memory stays bounded while the store hangs.
    waiting = waiting.filter((batch) => !isExpired(batch))
    if (pending() > 0) return
    clearInterval(clock)
    clock = undefined
  }

  function pending(): number {
    return [...waiting, ...committing].reduce((sum, { addresses }) => sum + addresses.length, 0)
  }

  return { add, pending }
}

// Without a copy in the common case of one batch: the copy costs about 1 % of a request.
function toAddresses(batches: readonly Batch[]): readonly Address[] {
  const [first] = batches
  return first && batches.length === 1 ? first.addresses : batches.flatMap(({ addresses }) => addresses)
}

function createBatch(expires: number): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when no caller waits any more.
  promise.catch(() => {})
  return { addresses: [], expires, promise, resolve, reject }
}

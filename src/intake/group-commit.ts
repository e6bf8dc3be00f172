/**
 * Group commit: addresses that arrive while a commit is on its way go into the next one together, so
 * that one fsync serves many requests (DeWitt et al., "Implementation Techniques for Main Memory Database
 * Systems", SIGMOD 1984). It also holds the deadline, which fires however long a commit hangs.
 */

import type { Address } from '../email.ts'

/** Writes a batch; resolves when all of it is on stable storage, rejects when it may not be. */
export type Commit = (batch: readonly Address[]) => Promise<void>

export interface GroupCommitOptions {
  /** Milliseconds after which an address that is not confirmed is given up. */
  readonly deadlineMs: number
  /** Commits that may be under way at once. */
  readonly inFlight?: number
  /** Most addresses in one commit. */
  readonly maxBatch?: number
  /** Called with the error when addresses were given up because the deadline passed. */
  readonly onExpired?: (error: Error) => void
}

export interface GroupCommit {
  /**
   * Has an address written with the next commit.
   *
   * @returns a promise, shared by all of its batch, which resolves when the address is on stable storage
   * and rejects when the commit failed or the deadline passed (the address may be kept even so)
   */
  add(address: Address): Promise<void>
  /** Resolves when nothing is waiting or under way any more. */
  idle(): Promise<void>
}

/** Addresses that came in within one tick of the clock, at most `maxBatch`: they share a deadline and a promise. */
interface Batch {
  readonly addresses: Address[]
  readonly expires: number
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: Error) => void
}

/** How exactly the deadline is kept, in milliseconds. */
const TICK_MS = 100

/** Turns of the event loop for which a burst may keep a commit waiting. */
const BURST_TURNS = 4

/**
 * Gathers single addresses into commits.
 *
 * @param commit called with one batch at a time, or with `inFlight` of them
 */
export function createGroupCommit(commit: Commit, options: GroupCommitOptions): GroupCommit {
  const { deadlineMs, inFlight = 1, maxBatch = 8192, onExpired } = options
  let waiting: Batch[] = []
  const underway = new Set<readonly Batch[]>()
  let flushing = false
  let arrived = 0
  let clock: Timer | undefined
  let onIdle: (() => void)[] = []

  function add(address: Address): Promise<void> {
    const now = performance.now()
    let batch = waiting.at(-1)
    if (!batch || batch.addresses.length >= maxBatch || now > batch.expires - deadlineMs + TICK_MS) {
      batch = createBatch(now + deadlineMs)
      waiting.push(batch)
    }
    batch.addresses.push(address)
    arrived++
    scheduleFlush()
    return batch.promise
  }

  // Requests come in bursts, and a commit costs the same for few and for many: so as long as each turn of the
  // event loop brings more, it waits for them, for a few turns.
  function scheduleFlush(): void {
    if (flushing || underway.size >= inFlight) return
    flushing = true
    gather(BURST_TURNS, 0)
  }

  function gather(turns: number, seen: number): void {
    setImmediate(() => {
      if (turns > 0 && arrived > seen) return gather(turns - 1, arrived)
      flushing = false
      flush()
    })
  }

  function flush(): void {
    if (waiting.length === 0) return
    clock ??= setInterval(giveUpExpired, TICK_MS)
    const batches = takeWaiting()
    underway.add(batches)
    const addresses =
      batches.length === 1 ? (batches[0] as Batch).addresses : batches.flatMap((b) => b.addresses)
    commit(addresses).then(
      () => settle(batches, (batch) => batch.resolve()),
      (error) => settle(batches, (batch) => batch.reject(error)),
    )
  }

  function takeWaiting(): readonly Batch[] {
    let size = 0
    let end = 0
    for (const batch of waiting) {
      size += batch.addresses.length
      if (end > 0 && size > maxBatch) break
      end++
    }
    const taken = waiting.slice(0, end)
    waiting = waiting.slice(end)
    return taken
  }

  function settle(batches: readonly Batch[], end: (batch: Batch) => void): void {
    underway.delete(batches)
    for (const batch of batches) end(batch)
    if (waiting.length > 0) scheduleFlush()
    else if (underway.size === 0) becomeIdle()
  }

  function giveUpExpired(): void {
    const now = performance.now()
    const isExpired = (batch: Batch) => batch.expires <= now
    const expired = [...waiting, ...[...underway].flat()].filter(isExpired)
    if (expired.length > 0) {
      const error = new Error(`the store has not confirmed within ${deadlineMs} ms`)
      for (const batch of expired) batch.reject(error)
      onExpired?.(error)
    }
    // What has not been handed over is forgotten, so that memory stays bounded while the store hangs.
    waiting = waiting.filter((batch) => !isExpired(batch))
    if (waiting.length > 0 || underway.size > 0) return
    clearInterval(clock)
    clock = undefined
    becomeIdle()
  }

  function becomeIdle(): void {
    for (const resolve of onIdle) resolve()
    onIdle = []
  }

  return {
    add,
    idle: () =>
      waiting.length === 0 && underway.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => onIdle.push(resolve)),
  }
}

function createBatch(expires: number): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Whoever added to it has gone away by now, perhaps; a failed batch is no unhandled rejection.
  promise.catch(() => {})
  return { addresses: [], expires, promise, resolve, reject }
}

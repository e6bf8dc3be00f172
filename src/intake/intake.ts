/**
 * Takes addresses to the store by group commit: addresses that arrive during a commit go into the next one together, so
 * that one sync serves many requests (DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD
 * 1984). An address is given up at its deadline, also while a commit hangs.
 */

import { withDeadline } from '../deadline.ts'
import { type Address, isReserved } from '../email.ts'
import { GIVE_UP_MS } from '../limits.ts'
import { createTrouble, type Log } from '../log.ts'
import { MigratingError, type ServiceStore, StoreError } from '../subscriber.ts'

/** What the intake counts. */
export interface IntakeMetrics {
  /** Counts a commit that ended. @param readers its addresses that are not in a reserved domain; none for a probe */
  commit(readers: number, milliseconds: number, ok: boolean): void
}

/** The way of an address to the store. */
export interface Intake {
  /**
   * Stores an address.
   *
   * @returns a promise that others share. It resolves when the address is on stable storage, and rejects when the commit
   * failed or the deadline passed (the address may be stored even so).
   */
  add(address: Address): Promise<void>
  /**
   * Resolves when the store is known to accept addresses, without storing one. Rejects at once while commits fail, and otherwise after
   * GIVE_UP_MS at the latest. The reason is logged once.
   */
  ready(): Promise<void>
  /** Number of addresses that wait, or that the store has neither confirmed nor refused. */
  pending(): number
  /** Resolves when no address is pending. The caller adds no more. */
  close(): Promise<void>
}

/** Addresses that arrived at about the same time. They share a deadline and a promise. A commit takes all that wait. */
interface Group {
  readonly addresses: Address[]
  /** By `performance.now()`. */
  readonly begunAt: number
  readonly reply: PromiseWithResolvers<void>
  readonly deadline: Timer
}

function createGroup(giveUp: (group: Group) => void): Group {
  const group: Group = {
    addresses: [],
    begunAt: performance.now(),
    reply: Promise.withResolvers(),
    deadline: setTimeout(() => giveUp(group), GIVE_UP_MS),
  }
  return group
}

/** Returns the group that an address joins which comes now; undefined when it needs a new one. */
function findOpenGroup(groups: readonly Group[]): Group | undefined {
  const last = groups.at(-1)
  return last && performance.now() - last.begunAt <= GROUP_MS ? last : undefined
}

/** Tells those who wait for a group whether it is committed. */
function settle({ reply, deadline }: Group, error: Error | undefined): void {
  clearTimeout(deadline)
  if (error) reply.reject(error)
  else reply.resolve()
}

/** Milliseconds for which addresses join a group. So the intake may give an address up this much earlier than GIVE_UP_MS. */
const GROUP_MS = 100

/** A commit waits at most this many turns of the event loop for more addresses, after the first turn. */
const BURST_TURNS = 4

/** Milliseconds after a failure until a probe shows whether the store works again. */
const PROBE_MS = 1_000

/** What the intake tells about commits. */
interface Reports {
  readonly log: Log
  readonly metrics?: IntakeMetrics | undefined
}

/** Creates the intake of a store. */
export function createIntake(store: Pick<ServiceStore, 'add' | 'probe' | 'ready'>, reports: Reports): Intake {
  /** The groups of the next commit. */
  let next: Group[] = []
  /** Those of the commit that runs. */
  let committing: readonly Group[] = []
  /** Whether a run of commits, or a probe and the commits after it, has not ended. */
  let isRunning = false
  /** The last run. */
  let run: Promise<void> | undefined
  // A probe finds out whether the store works, unless a commit does.
  const attempts = createAttempts(() => begin(probeAndCommit), reports)
  const pending = () => [...next, ...committing].reduce((sum, { addresses }) => sum + addresses.length, 0)

  function add(address: Address): Promise<void> {
    const group = findOpenGroup(next) ?? createGroup(giveUp)
    if (group !== next.at(-1)) next.push(group)
    group.addresses.push(address)
    begin(commitAll)
    return group.reply.promise
  }

  /** Begins a run, unless there is one: it takes everything that waits before it ends. */
  function begin(work: () => Promise<void>): void {
    if (isRunning) return
    isRunning = true
    run = work()
  }

  function giveUp(group: Group): void {
    const error = toLateError()
    group.reply.reject(error)
    // Memory stays bounded while a commit hangs.
    next = next.filter((other) => other !== group)
    attempts.fail(error)
  }

  /** An address that came during the probe has begun no run of its own, because this one runs. So it is committed here. */
  async function probeAndCommit(): Promise<void> {
    await attempts.run([], () => store.probe())
    await commitAll()
  }

  /** Commits all that waits, and ends the run. */
  async function commitAll(): Promise<void> {
    while (next.length > 0) {
      await waitForBurst(pending)
      // All may have been given up meanwhile.
      if (next.length === 0) break
      committing = next
      next = []
      const addresses = committing.flatMap((group) => group.addresses)
      const error = await attempts.run(addresses, () => store.add(addresses))
      for (const group of committing) settle(group, error)
      committing = []
    }
    // In the same turn as the last look at `next`: an address that came between the two would see a run that takes nothing any more.
    isRunning = false
  }

  return {
    add,
    ready: () => attempts.check(() => store.ready()),
    pending,
    async close() {
      await run
      attempts.stop()
    },
  }
}

const toLateError = () => new Error(`the store did not confirm within ${GIVE_UP_MS} ms`)

/**
 * Runs commits and probes, and knows whether the store fails.
 *
 * @param probe runs PROBE_MS after a failure: without requests, nothing else would notice that the store has recovered
 */
function createAttempts(probe: () => void, { log, metrics }: Reports) {
  let timer: Timer | undefined
  const trouble = createTrouble(log, {
    begin: 'the store fails: requests get 500 storage_failure until it recovers',
    end: 'the store has recovered',
  })
  const unready = createTrouble(log, {
    begin: 'the service is not ready: its store does not work',
    end: 'the service is ready again',
  })
  let lastError: Error | undefined

  function fail(error: Error): void {
    lastError = error
    clearTimeout(timer)
    timer = setTimeout(probe, PROBE_MS).unref()
    trouble.add(error)
  }

  return {
    fail,
    /** Checks whether the store accepts addresses. While commits fail, it does not ask the store. @throws why it does not */
    async check(work: () => Promise<void>): Promise<void> {
      // A caller gets the reason of a migration, because that ends by itself. All other reasons are only in the log.
      if (trouble.isOn()) throw lastError instanceof MigratingError ? lastError : new StoreError('the store fails')
      try {
        await withDeadline(work(), GIVE_UP_MS, toLateError)
        unready.end()
      } catch (error) {
        // The reason of a commit that failed meanwhile is in the log.
        if (!trouble.isOn()) unready.add(error as Error)
        throw error
      }
    },
    /** Returns the error of an attempt; undefined when it succeeds. */
    async run(addresses: readonly Address[], work: () => Promise<void>): Promise<Error | undefined> {
      const began = performance.now()
      const error = await work().then(
        () => undefined,
        (reason: Error) => reason,
      )
      // The test of an owner or of a monitor does not show that readers come.
      const readers = metrics ? addresses.filter((address) => !isReserved(address)).length : 0
      metrics?.commit(readers, performance.now() - began, error === undefined)
      if (error) {
        fail(error)
      } else {
        trouble.end()
        // Without an operations port, nobody asks again whether the service is ready.
        unready.end()
      }
      return error
    },
    stop: () => clearTimeout(timer),
  }
}

/**
 * Requests come in bursts, and a commit costs the same for few and for many. So a commit waits a few turns of the event loop
 * as long as each turn brings more addresses.
 */
async function waitForBurst(pending: () => number): Promise<void> {
  await new Promise(setImmediate)
  let turn = 0
  let seen = 0
  while (turn < BURST_TURNS && pending() > seen) {
    turn++
    seen = pending()
    await new Promise(setImmediate)
  }
}

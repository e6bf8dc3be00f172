/** Takes addresses to the store: group commit, the deadline, and a log line when the store fails and when it recovers. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../email.ts'
import { GIVE_UP_MS } from '../limits.ts'
import type { Log } from '../log.ts'
import { type ServiceStore, StoreError } from '../subscriber.ts'
import { createGroupCommit } from './group-commit.ts'

/** Receives what the intake counts. */
export interface IntakeMetrics {
  /** The store confirmed addresses. */
  accepted(addresses: number): void
  /** A commit ended. */
  commit(addresses: number, milliseconds: number, ok: boolean): void
}

export interface IntakeOptions {
  readonly log: Log
  readonly metrics?: IntakeMetrics | undefined
}

export interface Intake {
  /**
   * Stores an address.
   *
   * @returns resolves when the address is on stable storage; rejects when the store failed or the deadline passed
   */
  add(address: Address): Promise<void>
  /** Resolves when the store is known to accept addresses, without storing one. Rejects while the store fails. */
  check(): Promise<void>
  /** Number of addresses that the store has neither confirmed nor refused. */
  pending(): number
  /** Resolves when no address is pending. */
  drain(): Promise<void>
}

/** While the store fails, the intake tries an empty commit after each pause of so many milliseconds. */
const RETRY_MS = 1_000

/** How often `drain` checks for pending addresses, in milliseconds. */
const DRAIN_POLL_MS = 5

/** Creates the intake of a store. */
export function createIntake(store: Omit<ServiceStore, 'close' | 'measure'>, { log, metrics }: IntakeOptions): Intake {
  const group = createGroupCommit(commit, { deadlineMs: GIVE_UP_MS, onExpired: fail })
  /** Why the store fails. Empty while it works. */
  const reasons = new Set<string>()
  let retrying = false
  let checking: Promise<void> | undefined

  async function commit(batch: readonly Address[]): Promise<void> {
    const start = performance.now()
    try {
      await store.add(batch)
    } catch (error) {
      metrics?.commit(batch.length, performance.now() - start, false)
      fail(error)
      throw error
    }
    metrics?.commit(batch.length, performance.now() - start, true)
    metrics?.accepted(batch.length)
    recover()
  }

  // Logs each reason once, not for each commit: a full disk must not fill up with log lines as well.
  function fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (reasons.has(reason)) return
    reasons.add(reason)
    log.error({ err: error }, 'the store fails: requests get 500 storage_failure until it recovers')
    if (!retrying) void retry()
  }

  // Without requests, nothing else would notice that the store has recovered.
  async function retry(): Promise<void> {
    retrying = true
    while (reasons.size > 0) {
      await sleep(RETRY_MS, undefined, { ref: false })
      if (reasons.size > 0) await store.add([]).then(recover, () => {})
    }
    retrying = false
  }

  function recover(): void {
    if (reasons.size > 0) log.info('the store has recovered')
    reasons.clear()
  }

  // The store runs one operation at a time, so concurrent callers share a check.
  function check(): Promise<void> {
    if (reasons.size > 0) return Promise.reject(new StoreError('the store fails'))
    checking ??= store.check().finally(() => {
      checking = undefined
    })
    return checking
  }

  async function drain(): Promise<void> {
    while (group.pending() > 0) await sleep(DRAIN_POLL_MS)
  }

  return { add: group.add, check, pending: group.pending, drain }
}

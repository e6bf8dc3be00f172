/** The way of one address into a store: group commit, the deadline, and a word to the log when the store fails and recovers. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../email.ts'
import { STORE_DEADLINE_MS } from '../limits.ts'
import type { Log } from '../log.ts'
import { StoreError, type SubscriberStore } from '../subscriber.ts'
import { createGroupCommit } from './group-commit.ts'

/** What the intake reports of itself. */
export interface IntakeMetrics {
  /** Addresses were confirmed. */
  accepted(addresses: number): void
  /** A commit ended, well or not. */
  commit(addresses: number, milliseconds: number, ok: boolean): void
}

export interface IntakeOptions {
  readonly log: Log
  readonly metrics?: IntakeMetrics | undefined
}

export interface Intake {
  /**
   * Has an address stored.
   *
   * @returns resolves when it is on stable storage; rejects when the store failed or the deadline passed
   */
  add(address: Address): Promise<void>
  /** Resolves when addresses can be stored, as far as is known without storing one; rejects while the store fails. */
  check(): Promise<void>
  /** Resolves when every address that was handed in has been stored or given up. */
  idle(): Promise<void>
}

/** While the store fails, it is tried this often, in milliseconds: nobody may be sending who would find it well again. */
const RETRY_MS = 1_000

/** Creates the intake of a store. */
export function createIntake(
  store: Pick<SubscriberStore, 'add' | 'check'>,
  { log, metrics }: IntakeOptions,
): Intake {
  let failing = false
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

  // Once, and not for each commit: a full disk would be filled by the log as well.
  function fail(error: unknown): void {
    if (failing) return
    log.error({ err: error }, 'the store fails: 500 storage_failure until it recovers')
    failing = true
    if (!retrying) void retry()
  }

  async function retry(): Promise<void> {
    retrying = true
    while (failing) {
      await sleep(RETRY_MS, undefined, { ref: false })
      if (failing) await store.add([]).then(recover, () => {})
    }
    retrying = false
  }

  function recover(): void {
    if (failing) log.info('the store has recovered')
    failing = false
  }

  // A check takes a turn of the store, so all who ask at once share one.
  function check(): Promise<void> {
    if (failing) return Promise.reject(new StoreError('the store fails'))
    checking ??= store.check().finally(() => {
      checking = undefined
    })
    return checking
  }

  return { ...createGroupCommit(commit, { deadlineMs: STORE_DEADLINE_MS, onExpired: fail }), check }
}

/** Everything that the list was asked to do, and what it must therefore hold. */

import { BrokenPromise, check } from '../check.ts'
import type { Random } from '../random.ts'
import { byIdentity, checkAllSent, type Row } from '../rows.ts'
import {
  ABSENT,
  createOperation,
  type Effect,
  listPossibleStates,
  matches,
  type Operation,
  type State,
  toSnapshot,
  toText,
} from './history.ts'

/** An identity that was used at least once. */
export interface Entry {
  /** As it was when the round began; nothing ran then. */
  state: State
  /** Its number on the list then; 0 when it was not there. */
  seq: number
  /** The operations of this round. */
  operations: readonly Operation[]
  /** Whether it was ever on the list. */
  wasListed: boolean
}

/** Most operations on one address in a round: all orders of them are looked at. */
const MOST_OPERATIONS = 6

/** Addresses that are used again and again, so that operations on one address overlap. */
const BUSY = 200

const NONE: readonly Operation[] = []

export type Ledger = ReturnType<typeof createLedger>

/** @param tickMs processes may number two addresses in any order if one was sent so soon after the other was confirmed */
export function createLedger(random: Random, tickMs = 0) {
  const entries = new Map<string, Entry>()
  const identities: string[] = []
  let everListed = 0

  function create(identity: string): Entry {
    const entry = { state: ABSENT, seq: 0, operations: NONE, wasListed: false }
    entries.set(identity, entry)
    identities.push(identity)
    return entry
  }

  const createNew = () => `person${identities.length}@host${identities.length % 97}.example`

  /** Chooses an identity: a new one with this probability, else a busy one, else any. */
  function choose(newShare: number): string {
    for (let attempt = 0; attempt < 100; attempt++) {
      if (identities.length < BUSY || random.chance(newShare)) break
      const identity = identities[random.below(random.chance(0.3) ? BUSY : identities.length)] ?? ''
      if ((entries.get(identity)?.operations.length ?? 0) < MOST_OPERATIONS) return identity
    }
    const identity = createNew()
    create(identity)
    return identity
  }

  /** Begins an operation on the identity. */
  function begin(identity: string, effect: Effect): Operation {
    const entry = entries.get(identity) ?? create(identity)
    const operation = createOperation(effect)
    entry.operations = [...entry.operations, operation]
    return operation
  }

  /** Fails unless the list may look like this to a reader that began and ended at these moments. */
  function checkSnapshot(what: string, rows: readonly Row[], start: number, end: number): void {
    const listed = toListed(rows)
    for (const [identity, { state, operations }] of entries) {
      const row = listed.get(identity)
      if (operations.length === 0 && matches(state, row)) continue
      const possible = listPossibleStates(state, toSnapshot(operations, start, end))
      if (!possible.some((one) => matches(one, row))) throw toBroken(what, identity, possible, row)
    }
  }

  function toListed(rows: readonly Row[]): Map<string, Row> {
    const listed = byIdentity(rows)
    checkAllSent(listed, (identity) => entries.has(identity))
    return listed
  }

  /**
   * Ends a round. Nothing runs now, and the rows are the whole list.
   *
   * @returns identities that are not listed, but of which nobody knows whether they are suppressed
   */
  function settle(rows: readonly Row[]): string[] {
    const listed = toListed(rows)
    const unclear: string[] = []
    for (const [identity, entry] of entries) {
      const row = listed.get(identity)
      if (entry.operations.length === 0) {
        const isSame = matches(entry.state, row) && (row?.seq ?? 0) === entry.seq
        if (!isSame) throw toBroken('the list', identity, [entry.state], row)
        continue
      }
      const possible = listPossibleStates(entry.state, entry.operations).filter((one) => matches(one, row))
      const [state] = possible
      if (!state) {
        throw toBroken('the list', identity, listPossibleStates(entry.state, entry.operations), row)
      }
      if (!row && possible.length > 1) unclear.push(identity)
      else close(entry, state, row)
    }
    checkOrder(rows)
    return unclear
  }

  /** An address that was confirmed before another was sent, and not in the same tick, has the smaller number. */
  function checkOrder(rows: readonly Row[]): void {
    let latest = { start: 0, email: '' }
    for (const { email } of rows) {
      const [only, ...others] = started.get(email.toLowerCase()) ?? []
      if (!only || others.length > 0) continue
      check(only.end + tickMs >= latest.start, () => {
        const before = (latest.start - only.end).toFixed(1)
        return `${email} was confirmed ${before} ms before ${latest.email} was sent, and has a larger number`
      })
      if (only.start > latest.start) latest = { start: only.start, email }
    }
    started.clear()
  }

  // The operations of the round on addresses that were new in it, for the check of the order.
  const started = new Map<string, readonly Operation[]>()

  function close(entry: Entry, state: State, row: Row | undefined): void {
    if (entry.seq === 0 && row) started.set(row.email.toLowerCase(), entry.operations)
    // Only one date is right from now on.
    const date = row ? Date.parse(row.subscribed_at) : 0
    entry.state = state.kind === 'subscribed' ? { ...state, from: date, to: date } : state
    entry.seq = row?.seq ?? 0
    if (row && !entry.wasListed) everListed++
    entry.wasListed ||= row !== undefined
    entry.operations = NONE
  }

  /** Ends the round for an identity that was unclear, after a removal has said what it found. */
  function settleUnclear(identity: string): void {
    const entry = entries.get(identity)
    const [state] = entry ? listPossibleStates(entry.state, entry.operations) : []
    if (!entry || !state) {
      throw new BrokenPromise(`a removal of ${identity} found a state that was not possible`)
    }
    close(entry, state, undefined)
  }

  const count = (kind: State['kind']) =>
    entries.values().reduce((sum, { state }) => sum + (state.kind === kind ? 1 : 0), 0)

  return {
    entries,
    choose,
    begin,
    checkSnapshot,
    settle,
    settleUnclear,
    /** Counts the addresses that are in a state now. */
    count,
    /** Counts the addresses that were on the list at any end of a round. */
    everListed: () => everListed,
  }
}

function toBroken(what: string, identity: string, possible: readonly State[], row: Row | undefined) {
  const seen = row ? `${row.email}, ${row.subscribed_at}, ${row.seq}` : 'no row'
  return new BrokenPromise(
    `${what} shows ${seen} for ${identity}; possible is: ${possible.map(toText).join('; or ') || 'nothing'}`,
  )
}

/**
 * What an address may have become, after operations that ran at once. An operation takes effect at one moment between
 * its start and its end, so the states of all orders that keep to this are possible (Herlihy and Wing,
 * "Linearizability", 1990).
 */

import type { Row } from '../rows.ts'

/** An address on the list, or not. */
export type State =
  | { readonly kind: 'absent' }
  | { readonly kind: 'suppressed' }
  | {
      readonly kind: 'subscribed'
      /** The spelling on the list. */
      readonly email: string
      /** The earliest and the latest date that the list may give it, in milliseconds since 1970. */
      readonly from: number
      readonly to: number
    }

export type Effect =
  | { readonly kind: 'subscribe'; readonly email: string }
  /** With the date of an older list, or without one. */
  | { readonly kind: 'import'; readonly email: string; readonly date?: number }
  | { readonly kind: 'remove'; readonly suppress: boolean }

export interface Operation {
  readonly effect: Effect
  /** In milliseconds of performance.now(), and since 1970. */
  readonly start: number
  readonly startDate: number
  /** Set when it is confirmed; until then nobody knows whether it takes effect, and when. */
  end: number
  endDate: number
  /** The state that the operation says it found. */
  found?: State['kind']
}

export const ABSENT: State = { kind: 'absent' }
export const SUPPRESSED: State = { kind: 'suppressed' }

/** Begins an operation. It is not confirmed. */
export function createOperation(effect: Effect): Operation {
  return {
    effect,
    start: performance.now(),
    startDate: Date.now(),
    end: Number.POSITIVE_INFINITY,
    endDate: Number.POSITIVE_INFINITY,
  }
}

export function confirm(operation: Operation, found?: State['kind']): void {
  operation.end = performance.now()
  operation.endDate = Date.now()
  if (found) operation.found = found
}

/** Lists the states that are possible after the operations; none when what they found fits no order. */
export function listPossibleStates(initial: State, operations: readonly Operation[]): State[] {
  const possible = new Map<string, State>()
  const visited = new Set<string>()

  /** `done` has a bit for each operation that has taken effect. */
  function visit(state: State, done: number): void {
    const key = `${toText(state)} ${done}`
    if (visited.has(key)) return
    visited.add(key)
    const isLeft = (index: number) => (done & (1 << index)) === 0
    const ends = operations.flatMap(({ end }, index) => (isLeft(index) ? [end] : []))
    const firstEnd = Math.min(...ends)
    if (firstEnd === Number.POSITIVE_INFINITY) possible.set(toText(state), state)
    for (const [index, operation] of operations.entries()) {
      // An operation that began after another had ended cannot come before it.
      if (!isLeft(index) || operation.start > firstEnd) continue
      if (operation.found && operation.found !== state.kind) continue
      visit(apply(state, operation), done | (1 << index))
    }
  }

  visit(initial, 0)
  return [...possible.values()]
}

function apply(state: State, { effect, startDate, endDate }: Operation): State {
  if (effect.kind === 'remove') return effect.suppress ? SUPPRESSED : ABSENT
  // The list keeps the first spelling and date. An import leaves out who is suppressed; a new subscription does not.
  if (state.kind === 'subscribed' || (state.kind === 'suppressed' && effect.kind === 'import')) return state
  const date = effect.kind === 'import' ? effect.date : undefined
  return { kind: 'subscribed', email: effect.email, from: date ?? startDate, to: date ?? endDate }
}

/** Whether a state is what the list shows of the address. */
export function matches(state: State, row: Row | undefined): boolean {
  if (state.kind !== 'subscribed' || !row) return state.kind !== 'subscribed' && !row
  const date = Date.parse(row.subscribed_at)
  return state.email === row.email && date >= state.from && date <= state.to
}

/** The operations as a reader may have met them that began and ended at these moments of performance.now(). */
export function toSnapshot(operations: readonly Operation[], start: number, end: number): Operation[] {
  return operations
    .filter((operation) => operation.start < end)
    .map((operation) =>
      operation.end < start
        ? operation
        : { ...operation, end: Number.POSITIVE_INFINITY, endDate: Number.POSITIVE_INFINITY },
    )
}

/** A state in words, for a message. */
export function toText(state: State): string {
  return state.kind === 'subscribed' ? `subscribed as ${state.email}, ${state.from} to ${state.to}` : state.kind
}

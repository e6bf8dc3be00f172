/** A second list that the first one is copied to again and again, and copies that are killed. */

import { check } from '../check.ts'
import type { List } from '../rollcall.ts'
import { byIdentity, checkAllSent, readRows } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import type { World } from './world.ts'

export type Target = ReturnType<typeof createTarget>

export function createTarget(world: World, list: List) {
  let isCopying = false

  /** Copies what is new. One copy at a time. */
  async function copy(): Promise<void> {
    if (isCopying) return
    isCopying = true
    try {
      await world.run(['copy', '--from', world.list.url, '--to', list.url])
    } finally {
      isCopying = false
    }
  }

  /** Nothing has changed since the last copy: fails when the target does not follow the list. */
  async function compare(ledger: Ledger): Promise<void> {
    const listed = byIdentity(await readRows(list))
    checkAllSent(listed, (identity) => ledger.entries.has(identity))
    for (const [identity, { state, wasRemoved, suppressedUntil }] of ledger.entries) {
      const row = listed.get(identity)
      if (state.kind === 'suppressed') {
        check(!row, () => `the copy still has ${identity}, which is suppressed on the list`)
      }
      // Who was suppressed after the date of the row is left out, because dates decide.
      if (state.kind !== 'subscribed' || state.from <= suppressedUntil) continue
      check(
        row !== undefined,
        () => `the copy lacks ${identity}, which is on the list since ${new Date(state.from).toISOString()}`,
      )
      const isSame = row?.email === state.email && Date.parse(row.subscribed_at) === state.from
      // Who was forgotten and came back may have an earlier row on the copy.
      check(isSame || wasRemoved, () => `the copy has ${row?.email}, ${row?.subscribed_at} instead of ${state.email}`)
    }
  }

  return { copy, compare }
}

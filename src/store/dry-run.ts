/** A list on which an import is tried out: it tells what would happen, and the real one stays as it is. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ImportTally, SubscriberStore } from '../subscriber.ts'
import { openSqliteStore } from './sqlite/store.ts'

export type Trial = Pick<SubscriberStore, 'import' | 'importSize' | 'close'>

/** Opens a trial of imports into a list; what would be new is kept in a temporary file, to know repeats by. */
export async function openDryRun(store: Pick<SubscriberStore, 'lookUp'>): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-'))
  const fresh = openSqliteStore(join(folder, 'trial.db'))
  return {
    importSize: fresh.importSize,
    async import(rows): Promise<ImportTally> {
      const states = await store.lookUp(rows.map(({ email }) => email))
      const { added, known } = await fresh.import(rows.filter((_, index) => states[index] === 'absent'))
      const suppressed = states.filter((state) => state === 'suppressed').length
      return { added, known: known + states.filter((state) => state === 'subscribed').length, suppressed }
    },
    async close() {
      await fresh.close()
      await rm(folder, { recursive: true })
    },
  }
}

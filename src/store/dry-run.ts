import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SubscriberStore } from '../subscriber.ts'
import { openSqliteStore } from './sqlite/store.ts'

export type DryRun = Pick<SubscriberStore, 'import' | 'importSize' | 'close'>

/**
 * Opens a dry run of imports into a list. It counts what an import would do, and does not change the list. It keeps
 * new addresses in a temporary list, to recognize repeats in a file of any length.
 *
 * @throws StoreError when the temporary list cannot be created
 */
export async function openDryRun(list: Pick<SubscriberStore, 'lookUp'>): Promise<DryRun> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-'))
  // The umask may have taken permissions from the owner.
  await chmod(folder, 0o700)
  const temporary = openSqliteStore(join(folder, 'dry-run.db'))
  return {
    importSize: temporary.importSize,
    async import(rows) {
      const states = await list.lookUp(rows.map(({ email }) => email))
      const { added, known } = await temporary.import(rows.filter((_, index) => states[index] === 'absent'))
      const suppressed = states.filter((state) => state === 'suppressed').length
      return { added, known: known + states.filter((state) => state === 'subscribed').length, suppressed }
    },
    async close() {
      await temporary.close()
      await rm(folder, { recursive: true })
    },
  }
}

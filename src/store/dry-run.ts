import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListUrl } from '../config/list-url.ts'
import type { Address } from '../email.ts'
import { MissingListError, type SubscriberStore } from '../subscriber.ts'
import { openStore } from './open.ts'
import { openSqliteStore } from './sqlite/store.ts'

export type DryRun = Pick<SubscriberStore, 'import' | 'importSize' | 'suppress' | 'close'>

/**
 * Opens a dry run of imports into a list. It counts what an import would do, and does not change the list. It keeps
 * new addresses and suppressions in a temporary list, to recognize repeats in a file of any length.
 *
 * @param url its list does not need to exist, and is not created
 * @throws StoreError when the list or the temporary list cannot be opened
 */
export async function openDryRun(url: ListUrl): Promise<DryRun> {
  const list = await openStore(url, { create: false }).catch(toMissing)
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-'))
  // The umask may have taken permissions from the owner.
  await chmod(folder, 0o700)
  const temporary = openSqliteStore(join(folder, 'dry-run.db'))

  const lookUp = async (addresses: readonly Address[]) =>
    (await list?.lookUp(addresses).catch(toMissing)) ?? addresses.map(() => 'absent' as const)

  return {
    importSize: temporary.importSize,
    async import(rows) {
      const addresses = rows.map(({ email }) => email)
      const [states, changes] = [await lookUp(addresses), await temporary.lookUp(addresses)]
      const outcomes = states.map((state, index) => (changes[index] === 'suppressed' ? 'suppressed' : state))
      const { added, known } = await temporary.import(rows.filter((_, index) => outcomes[index] === 'absent'))
      const suppressed = outcomes.filter((outcome) => outcome === 'suppressed').length
      return { added, known: known + outcomes.filter((outcome) => outcome === 'subscribed').length, suppressed }
    },
    async suppress(rows, options) {
      const states = await lookUp(rows.map(({ email }) => email))
      const subscribed = rows.filter((_, index) => states[index] === 'subscribed')
      const found = await Promise.all(subscribed.map(({ email }) => list?.find(email)))
      await temporary.import(found.filter((subscriber) => subscriber !== undefined))
      const rest = rows.filter((_, index) => states[index] !== 'suppressed')
      const tally = await temporary.suppress(rest, options)
      return { ...tally, known: tally.known + rows.length - rest.length }
    },
    async close() {
      await temporary.close()
      await list?.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** PostgreSQL finds out at the first call that there is no list. @throws any other error */
function toMissing(error: unknown): undefined {
  if (!(error instanceof MissingListError)) throw error
}

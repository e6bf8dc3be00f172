/** Promises 1 and 2: a confirmed address survives kill -9, and no address is on the list twice. */

import { expect, test } from 'bun:test'
import type { Address } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { countCompacted, toListFile } from '../support/list-file.ts'
import { createLedger, expectKept, type Ledger, postUntilFailure } from '../support/load.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

test('confirmed addresses survive kill -9 under load, while two services compact the list', async () => {
  const folder = await createFolder()
  const ledger = createLedger()
  const addresses = 150_000
  await fillInbox(folder, addresses, ledger)
  const compacted = () => countCompacted(toListFile(folder))

  for (const share of [0.05, 0.2, 0.4]) {
    const services = await Promise.all([startService({ folder }), startService({ folder })])
    // The services compact while they are idle.
    await until(() => compacted() > addresses * share, `${share} is compacted`)
    const loads = services.map((service) => postUntilFailure(service, ledger))
    const goal = ledger.answered + 500
    await until(() => ledger.answered >= goal, '500 more requests get a 200')
    await Promise.all(services.map((service) => service.stop('SIGKILL')))
    await Promise.all(loads)
    expect(compacted()).toBeLessThan(ledger.acknowledged.size)
  }
  await expectKept(folder, ledger)
}, 120_000)

/** Fills the inbox as a burst does. Every tenth address is an earlier one in upper case. */
async function fillInbox(folder: string, addresses: number, { acknowledged, sent }: Ledger): Promise<void> {
  const store = openSqliteStore(toListFile(folder), { access: 'create' })
  const batch = 250
  for (let first = 0; first < addresses; first += batch) {
    const emails = Array.from({ length: batch }, (_, index) => {
      const n = first + index
      return n % 10 === 9 ? `EARLY${10 * Math.trunc(n / 20)}@EXAMPLE.ORG` : `early${n}@example.org`
    })
    await store.add(emails as Address[])
    for (const email of emails) sent.add(email.toLowerCase())
  }
  for (const email of sent) acknowledged.add(email)
  await store.close()
}

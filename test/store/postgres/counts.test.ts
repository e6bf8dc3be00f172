/** The counts in the row of a PostgreSQL list after every kind of change. */

import { expect, test } from 'bun:test'
import { checkPostgresList } from '../../../src/store/postgres/checks.ts'
import { getServer, toParameters, withStore } from '../../support/postgres.ts'
import { listSuppressions, toAddresses } from '../../support/store-suite.ts'

const server = await getServer()

const toRows = (...emails: string[]) => toAddresses(...emails).map((email) => ({ email, subscribedAt: undefined }))

async function checkCounts(url: string) {
  const results = await Array.fromAsync(checkPostgresList({ parameters: toParameters(url), name: 'the list' }, []))
  return results.find(({ check }) => check === 'counts')
}

test('the counts follow the rows through every change', async () => {
  const [url, otherUrl] = await Promise.all([server.createUrl(), server.createUrl()])
  await withStore(url, async (store) => {
    const expectCounts = async (subscribers: number, reserved: number) => {
      expect(await store.count()).toMatchObject({ subscribers, reserved })
      expect(await checkCounts(url)).toMatchObject({ ok: true })
    }
    await store.add(
      toAddresses('ada@mail.io', 'ADA@mail.io', 'bob@example.org', 'cyd@sub.Example.com', 'Bob@Example.org'),
    )
    await expectCounts(3, 2)
    await store.add(toAddresses('ada@mail.io'))
    await store.import(toRows('dan@mail.test', 'dan@MAIL.test', 'eve@mail.io', 'bob@example.org'))
    await expectCounts(5, 3)
    await store.remove(toAddresses('bob@example.org', 'eve@mail.io', 'nobody@mail.io'), { suppress: true })
    await expectCounts(3, 2)
    await store.remove(toAddresses('Dan@mail.test'), { suppress: false })
    await expectCounts(2, 1)
    await store.suppress(
      toAddresses('ada@mail.io').map((email) => ({ email, optedOutAt: undefined })),
      { removeUndated: true },
    )
    await expectCounts(1, 1)
    await store.add(toAddresses('bob@example.org'))
    await expectCounts(2, 2)
    await withStore(otherUrl, async (other) => {
      await other.remove(toAddresses('cyd@sub.example.com'), { suppress: true })
      await store.mergeSuppressions(await listSuppressions(other))
    })
    await expectCounts(1, 1)
  })
})

test('the check finds rows that were changed by hand', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.import(toRows('ada@mail.io', 'bob@mail.io')))
  await server.run(`DELETE FROM rollcall.subscribers WHERE identity = 'ada@mail.io'`, url)
  expect(await checkCounts(url)).toMatchObject({ ok: false, message: expect.stringContaining('the counts') })
})

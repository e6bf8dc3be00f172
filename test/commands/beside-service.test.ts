/** The owner at work while the service is: both keep what they promise. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'

test('an import of many rows beside a service that accepts: every deadline is kept, and each address is once', async () => {
  const service = await startService()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  const { print, rows } = await createCliFixture()
  const size = 150_000
  const text = Array.from({ length: size }, (_, index) => `user.${index}@site.io\n`).join('')

  const statuses = new Map<number, number>()
  let isDone = false
  // Half of them are in the file as well.
  async function subscribe(caller: number): Promise<void> {
    for (let turn = 0; !isDone; turn++) {
      const email = turn % 2 ? `user.${turn * 7 + caller}@site.io` : `caller.${caller}.${turn}@site.io`
      const { status } = await service.subscribe(email)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const callers = Array.from({ length: 8 }, (_, caller) => subscribe(caller))
  const { added, known } = JSON.parse(await print(['import', '-', '--json', '--list', list], text))
  isDone = true
  await Promise.all(callers)

  expect([...statuses.keys()]).toEqual([200])
  expect(added + known).toBe(size)
  const identities = (await rows(list)).map(({ email }) => email)
  expect(new Set(identities).size).toBe(identities.length)
  expect(identities.filter((email) => email.startsWith('user.'))).toHaveLength(size)
  expect(await service.stop()).toBe(0)
})

test('two services on one file, with the same addresses posted to both: each is on the list once', async () => {
  const { folder, list, rows } = await createCliFixture()
  const env = { DATABASE_URL: list }
  const services = await Promise.all([startService({ env, folder }), startService({ env, folder })])
  const emails = Array.from({ length: 300 }, (_, index) => `user.${index}@site.io`)
  const replies = await Promise.all(
    services.flatMap((service) => emails.map((email) => service.subscribe(email))),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  await Promise.all(services.map((service) => service.stop()))
  expect((await rows()).map(({ email }) => email).toSorted()).toEqual(emails.toSorted())
})

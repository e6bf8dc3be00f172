/** Commands and services that work on one list at the same time. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'

test('during a large import, a service accepts every address in time, and each is on the list once', async () => {
  const service = await startService()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  const { print, rows } = await createCliFixture()
  const size = 150_000
  const text = Array.from({ length: size }, (_, index) => `user.${index}@site.io\n`).join('')

  const statuses = new Map<number, number>()
  let isDone = false
  /** Posts one address after the other; half of them are in the file too. */
  async function postUntilDone(client: number): Promise<void> {
    for (let turn = 0; !isDone; turn++) {
      const email = turn % 2 ? `user.${turn * 7 + client}@site.io` : `client.${client}.${turn}@site.io`
      const { status } = await service.subscribe(email)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const clients = Array.from({ length: 8 }, (_, client) => postUntilDone(client))
  const { added, known } = JSON.parse(await print(['import', '-', '--json', '--list', list], text))
  isDone = true
  await Promise.all(clients)

  expect([...statuses.keys()]).toEqual([200])
  expect(added + known).toBe(size)
  const identities = (await rows(list)).map(({ email }) => email)
  expect(new Set(identities).size).toBe(identities.length)
  expect(identities.filter((email) => email.startsWith('user.'))).toHaveLength(size)
  expect(await service.stop()).toBe(0)
})

test('two services on one file accept the same addresses, and each is on the list once', async () => {
  const { folder, list, rows } = await createCliFixture()
  const env = { DATABASE_URL: list }
  const services = await Promise.all([startService({ env, folder }), startService({ env, folder })])
  const emails = Array.from({ length: 300 }, (_, index) => `user.${index}@site.io`)
  const replies = await Promise.all(services.flatMap((service) => emails.map((email) => service.subscribe(email))))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  await Promise.all(services.map((service) => service.stop()))
  expect((await rows()).map(({ email }) => email).toSorted()).toEqual(emails.toSorted())
})

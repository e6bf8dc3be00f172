/** A worker and the coordinator of a Citus are killed under load: no confirmed address is lost, and a cursor misses nobody. */

import { expect, onTestFinished, test } from 'bun:test'
import { parseListUrl } from '../../src/config/list-url.ts'
import { type Address, toIdentity } from '../../src/email.ts'
import { openStore } from '../../src/store/open.ts'
import type { Subscriber } from '../../src/subscriber.ts'
import { emailsOf, expectAscending, listAll } from '../store/suite.ts'
import { getServer } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const server = await getServer()

test('a worker and the coordinator are killed under load', async () => {
  const url = await server.createUrl()
  const services = await Promise.all([1, 2].map(() => startService({ env: { DATABASE_URL: url } })))
  const store = await openStore(parseListUrl('URL', url), { access: 'create' })
  onTestFinished(() => store.close())
  const confirmed: Address[] = []
  const seen: Subscriber[] = []
  let refused = 0
  let isOver = false

  async function post(caller: number): Promise<void> {
    for (let step = 0; !isOver; step++) {
      const email = `${step % 2 ? `user${caller}` : 'All'}.${step}@mail.io` as Address
      const { status } = await services[caller % 2]!.subscribe(email)
      if (status === 200) confirmed.push(email)
      else refused++
    }
  }

  /** Reads what is new. Fails while a node is down, and continues after the last row that it got. */
  async function follow(): Promise<void> {
    const after = seen.at(-1)?.seq ?? 0
    for await (const page of store.list(after)) seen.push(...page)
  }

  const callers = Array.from({ length: 16 }, (_, caller) => post(caller))
  const reading = (async () => {
    while (!isOver) await follow().catch(() => Bun.sleep(100))
  })()
  const [worker] = server.workers
  for (const node of [worker!, server]) {
    const before = confirmed.length
    await until(() => confirmed.length >= before + 500, '500 addresses are confirmed')
    const refusedBefore = refused
    await node.kill()
    await until(() => refused > refusedBefore, 'an address is refused')
    await node.start()
    const restarted = confirmed.length
    await until(() => confirmed.length >= restarted + 500, '500 addresses are confirmed after the restart')
  }
  isOver = true
  await Promise.all([...callers, reading])
  for (const service of services) await service.stop()
  // A slice in doubt waits until Citus recovers it.
  await until(
    () =>
      follow().then(
        () => true,
        () => false,
      ),
    'the list can be read',
  )
  const all = await listAll(store)
  expectAscending(all)
  expect(emailsOf(seen)).toEqual(emailsOf(all))
  const listed = new Set(all.map(({ email }) => toIdentity(email)))
  expect(confirmed.filter((email) => !listed.has(toIdentity(email)))).toEqual([])
})

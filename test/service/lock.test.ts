/** Another process holds the write lock of the list: clients wait for it until the deadline, and documents do not wait. */

import { expect, test } from 'bun:test'
import { DOCUMENTS, RESPONSES } from '../support/contract.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { startService } from '../support/service.ts'

test('while the lock is held, requests get 500, and documents are served; afterward requests get 200', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  const readyz = async () => (await service.ops('/readyz')).status
  expect((await service.subscribe('before@example.org')).status).toBe(200)
  const lock = await holdLock(toListFile(service.folder))

  const refused = ['early1', 'early2'].map((name) => service.subscribe(`${name}@example.org`))
  const unready = readyz()
  expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
  for (const { status, body } of await Promise.all(refused)) {
    expect([status, body]).toEqual([500, RESPONSES.store_failed.body])
  }
  // The thread gives up before the intake does, and says why.
  expect(service.log()).toContain('another process holds its lock')
  expect([await unready, await readyz()]).toEqual([503, 503])

  const late = [service.subscribe('late1@example.org'), service.subscribe('LATE1@example.org')]
  await service.request(DOCUMENTS.openApiJson.path)
  await lock.release()
  for (const { status } of await Promise.all(late)) expect(status).toBe(200)
  expect(await readyz()).toBe(200)
  expect((await service.subscribe('after@example.org')).status).toBe(200)
  // On a busy machine, the intake may give up first, which is another reason. Each is logged once.
  const reasons: readonly string[] = service.log().match(/"message":"[^"]*"(?=.*the store fails)/g) ?? []
  expect(reasons).toEqual([...new Set(reasons)])
  expect(reasons.length).toBeGreaterThan(0)
  expect(service.log().match(/the store has recovered/g)).toHaveLength(1)

  expect(await service.stop()).toBe(0)
  const list = await readList(service.folder)
  // An address that got a 500 may be on the list or not.
  expect(list.map((email) => email.toLowerCase()).filter((email) => !email.startsWith('early'))).toEqual([
    'before@example.org',
    'late1@example.org',
    'after@example.org',
  ])
})

test('/readyz says in the log why it is 503, once, also when nobody subscribes', async () => {
  const service = await startService({ env: { OPS_PORT: '0' } })
  const readyz = async () => (await service.ops('/readyz')).status
  const lock = await holdLock(toListFile(service.folder))
  expect([await readyz(), await readyz()]).toEqual([503, 503])
  const lines = service.log().split('\n')
  const said = lines.filter((line) => line.includes('the service is not ready'))
  expect(said).toEqual([expect.stringContaining('another process holds its lock')])
  await lock.release()
  expect(await readyz()).toBe(200)
  await service.logged('the service is ready again')
  expect(await service.stop()).toBe(0)
})

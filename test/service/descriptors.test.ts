/** More connections than file descriptors: the service warns, does not spin, and is soon reachable again on both ports. */

import { afterEach, expect, test } from 'bun:test'
import { DOCUMENTS } from '../support/contract.ts'
import { measureCpuMs } from '../support/cpu.ts'
import { POST_HEADERS, POST_LINE } from '../support/endpoint.ts'
import { holdLock, toListFile } from '../support/list-file.ts'
import { createLedger, expectKept, type Ledger } from '../support/load.ts'
import { openConnection, type RawConnection, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const LIMIT = 256
const CONNECTIONS = 600

let service: RunningService
let connections: RawConnection[] = []

afterEach(async () => {
  for (const connection of connections) connection.close()
  connections = []
  await service.stop()
})

const startWithLimit = (limit: number) =>
  startService({ env: { OPS_PORT: '0' }, launcher: ['sh', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh'] })

test.each([4_095, 4_096])('a limit of %d', async (limit) => {
  service = await startWithLimit(limit)
  const warnings = service
    .log()
    .split('\n')
    .filter((line) => line.includes(`the limit of ${limit} open files`))
  expect(warnings).toHaveLength(limit < 4_096 ? 1 : 0)
})

const HOLD = [
  ['nothing', ''],
  ['a part of a head', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  ['a whole request', toRequest(`GET ${DOCUMENTS.openApiJson.path}`, ['Host: a'])],
  ['a part of a body', toRequest(POST_LINE, [...POST_HEADERS, 'Content-Length: 99'])],
] as const

test.each(HOLD)('600 connections with 256 file descriptors, each with %s', async (_, bytes) => {
  service = await startWithLimit(LIMIT)
  await openMany(bytes)
  await service.logged('file descriptors are short')
  await until(() => isReachable(service.port, DOCUMENTS.openApiJson.path), 'the public port responds')
  await until(() => isReachable(service.opsPort!, '/readyz'), 'the operations port responds')
  // Without descriptors, the runtime uses a whole CPU.
  expect(await measureCpuMs(service.process.pid, () => Bun.sleep(1_000))).toBeLessThan(300)
  expect((await service.subscribe('later@example.org')).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

test('a request that has begun gets its response before its connection is closed', async () => {
  service = await startWithLimit(LIMIT)
  const lock = await holdLock(toListFile(service.folder))
  const begun = await openConnection(service.port)
  begun.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"begun@example.org"}'))
  await openMany('')
  await service.logged('file descriptors are short')
  await lock.release()
  // A 500, if the lock was held for too long on a busy machine.
  expect((await begun.receive())?.status).toBeOneOf([200, 500])
  await begun.waitForClose()
})

test('no 200 is lost, and nothing gets a 500, while descriptors are used up again and again', async () => {
  service = await startWithLimit(LIMIT)
  const ledger = createLedger()
  let isOver = false
  const callers = Array.from({ length: 8 }, async () => {
    for (; !isOver; await Bun.sleep(5)) await subscribe(ledger)
  })
  for (let round = 0; round < 3; round++) {
    await openMany('')
    await Promise.any(connections.map((connection) => connection.waitForClose()))
    // If the queue of the port overflows, the kernel drops a connection, and its client learns that when it sends.
    for (const connection of connections) connection.close()
  }
  const before = ledger.answered
  await until(() => ledger.answered > before, 'an address is accepted')
  isOver = true
  await Promise.all(callers)
  expect(ledger.failed).toBe(0)
  await expectKept(service.folder, ledger)
})

async function subscribe(ledger: Ledger): Promise<void> {
  const email = `caller${ledger.sent.size}@example.org`
  ledger.sent.add(email)
  // A connection may be closed before its response.
  const reply = await service.subscribe(email).catch(() => undefined)
  if (reply?.status === 500) ledger.failed++
  if (reply?.status !== 200) return
  ledger.answered++
  ledger.acknowledged.add(email)
}

test('a stop while descriptors are used up is clean', async () => {
  service = await startWithLimit(LIMIT)
  await openMany(HOLD.at(-1)![1])
  await service.logged('file descriptors are short')
  expect(await service.stop()).toBe(0)
})

async function openMany(bytes: string): Promise<void> {
  connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(service.port)))
  for (const connection of connections) connection.send(bytes)
}

/** Whether a new connection gets a 200 within a second. */
async function isReachable(port: number, path: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { Connection: 'close' },
    signal: AbortSignal.timeout(1_000),
  }).catch(() => undefined)
  return response?.status === 200
}

/** A stop: whatever request has begun is answered, nothing confirmed is lost, and it ends with 0 within 10 s. */

import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { ENDPOINT } from '../../src/routes.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { until } from '../support/load.ts'
import { ROOT } from '../support/paths.ts'
import { openConnection, type RawConnection, toRequest } from '../support/raw.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

const FIELDS = ['Host: 127.0.0.1', 'Content-Type: application/json']

const toPost = (email: string) => toRequest(`POST ${ENDPOINT.path}`, FIELDS, JSON.stringify({ email }))

/** Posts from many connections, over and over, until the service takes no more; tells what became of the requests. */
function load({ port }: RunningService, { reconnecting }: { reconnecting: boolean }) {
  const confirmed: string[] = []
  let unanswered = 0
  let sent = 0

  async function call(): Promise<void> {
    let connection: RawConnection | undefined
    for (;;) {
      connection ??= await openConnection(port)
      if (connection.isClosed()) return
      const email = `caller${sent++}@example.org`
      connection.send(toPost(email))
      const reply = await connection.answer('POST')
      if (reply?.status === 200) confirmed.push(email)
      else unanswered++
      if (!reply || reconnecting || reply.headers.get('connection') === 'close') {
        connection.close()
        connection = undefined
      }
    }
  }

  const ended = Promise.all(Array.from({ length: 64 }, call))
  return { confirmed, unanswered: () => unanswered, ended }
}

/** Stops a service, by the clock. */
async function stop(service: RunningService, signal: NodeJS.Signals): Promise<void> {
  const start = performance.now()
  expect(await service.stop(signal)).toBe(0)
  expect(performance.now() - start).toBeLessThan(10_000)
}

const cases = [
  ['SIGTERM', { reconnecting: false }],
  ['SIGINT', { reconnecting: false }],
  ['SIGTERM', { reconnecting: true }],
  ['SIGINT', { reconnecting: true }],
] as const
for (const [signal, options] of cases) {
  test.concurrent(`${signal} under load, the callers ${options.reconnecting ? 're' : 'stay '}connected`, async () => {
    const folder = await createFolder()
    const service = await startService({ folder })
    const { confirmed, unanswered, ended } = load(service, options)
    await until(() => confirmed.length >= 1_000)
    await stop(service, signal)
    await ended
    expect(unanswered()).toBe(0)
    expect((await readList(folder)).toSorted()).toEqual(confirmed.toSorted())
    await rm(folder, { recursive: true })
  })
}

test.concurrent('SIGTERM while heads and bodies are on their way, and while connections say nothing', async () => {
  const folder = await createFolder()
  const service = await startService({ folder })
  const open = () => openConnection(service.port)
  const [slow, stuck, headless, kept] = await Promise.all([open(), open(), open(), open(), open()])
  const request = toPost('slow@example.org')
  slow.send(request.slice(0, -10))
  stuck.send(toPost('stuck@example.org').slice(0, -10))
  headless.send('POST /api')
  kept.send(toPost('kept@example.org'))
  expect((await kept.answer('POST'))?.status).toBe(200)

  const answers = [slow.answer('POST'), stuck.answer('POST')]
  const stopped = stop(service, 'SIGTERM')
  // It does nothing, so it is closed when no new connection is taken any more; the rest of a body still comes through.
  await kept.closed
  expect((await open()).isClosed()).toBe(true)
  slow.send(request.slice(-10))
  expect((await answers[0])?.status).toBe(200)
  const late = await answers[1]
  expect([late?.status, JSON.parse(String(late?.body)).message]).toEqual([408, 'invalid_body'])
  await stopped
  expect(await readList(folder)).toEqual(['kept@example.org', 'slow@example.org'])
  await rm(folder, { recursive: true })
})

test.concurrent('SIGTERM while the store waits for the lock of another process', async () => {
  const folder = await createFolder()
  const service = await startService({ folder })
  const lock = await holdLock(toListFile(folder), 3_000)
  const waiting = service.subscribe('waiting@example.org')
  await service.request('/openapi.json')
  await stop(service, 'SIGTERM')
  expect((await waiting).status).toBe(200)
  await lock.released
  expect(await readList(folder)).toEqual(['waiting@example.org'])
  await rm(folder, { recursive: true })
})

test.concurrent('a second signal ends it at once', async () => {
  const service = await startService()
  const stuck = await openConnection(service.port)
  stuck.send(toPost('stuck@example.org').slice(0, -10))
  await service.subscribe('other@example.org')
  service.process.kill('SIGTERM')
  await service.logged('stopping')
  // Signals that come together count as one.
  await Bun.sleep(100)
  expect(await service.stop('SIGINT')).toBe(1)
  expect(service.log()).not.toContain('"stopped"')
})

for (const [signal, toGroup] of [
  ['SIGTERM', false],
  ['SIGINT', false],
  ['SIGINT', true],
] as const) {
  test.concurrent(`npm start, and ${signal} to ${toGroup ? 'its group, as a terminal sends it' : 'npm'}`, async () => {
    const folder = await createFolder()
    const service = await startService({
      command: ['setsid', 'npm', 'start', '--silent'],
      folder: ROOT,
      env: { DATABASE_URL: `sqlite:${toListFile(folder)}` },
    })
    expect((await service.subscribe('npm@example.org')).status).toBe(200)
    if (toGroup) process.kill(-service.process.pid, signal)
    else service.process.kill(signal)
    await service.process.exited
    expect(service.log()).toContain('"stopped"')
    expect(service.process.exitCode).toBe(0)
    expect(await readList(folder)).toEqual(['npm@example.org'])
    await rm(folder, { recursive: true })
  })
}

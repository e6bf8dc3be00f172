/** Stopping: no confirmed address is lost, requests that have begun get their responses, and every stop ends within 10 s and says what it cut off. */

import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { STOP_PHASE_ENDS_MS } from '../../src/limits.ts'
import { DOCUMENTS } from '../support/contract.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createLedger, expectKept, postUntilFailure } from '../support/load.ts'
import { ROOT } from '../support/paths.ts'
import { openConnection, POST_HEADERS, POST_LINE, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

const toPost = (email: string) => toRequest(POST_LINE, POST_HEADERS, JSON.stringify({ email }))

/**
 * Stops a service. Returns its exit code and the last line of its log, after which it ends. The times of the log show that
 * it took less than 10 s: a busy machine delays the test.
 */
async function stop(service: RunningService, signal: NodeJS.Signals = 'SIGTERM') {
  const code = await service.stop(signal)
  const log = service.log().trimEnd().split('\n')
  const lines: { time: string; msg: string }[] = log.map((line) => JSON.parse(line))
  const stopping = lines.find(({ msg }) => msg.startsWith('stopping'))
  const last = lines.at(-1)
  expect(Date.parse(last!.time) - Date.parse(stopping!.time)).toBeLessThan(10_000)
  return { code, msg: last!.msg }
}

const CLEAN = { code: 0, msg: 'stopped' }

// Not concurrent, because it uses a whole processor.
test('a stop under load loses no confirmed address', async () => {
  const service = await startService()
  const ledger = createLedger()
  const load = postUntilFailure(service, ledger)
  await until(() => ledger.answered >= 1_000)
  expect(await stop(service)).toEqual(CLEAN)
  await load
  expect(ledger.failed).toBe(0)
  await expectKept(service.folder, ledger)
})

// Not concurrent, because the client must send a request in each moment of the stop.
test('during a stop, the last response of an open connection closes it', async () => {
  const service = await startService()
  const connection = await openConnection(service.port)
  const ask = () => {
    connection.send(toRequest('GET /llms.txt', ['Host: 127.0.0.1']))
    return connection.receive()
  }
  let last = await ask()
  expect(last?.headers.get('connection')).not.toBe('close')
  const stopped = stop(service)
  for (let reply = last; reply; reply = await ask()) last = reply
  expect(last?.headers.get('connection')).toBe('close')
  expect(await stopped).toEqual(CLEAN)
})

// Not concurrent, because the rest of a body must arrive in time.
test('a stop waits a second for bodies, answers 408 to those that do not end, and waits neither for heads nor for silent connections', async () => {
  const service = await startService()
  const open = () => openConnection(service.port)
  const [slow, headless, kept] = await Promise.all([open(), open(), open()])
  const stuck = await Promise.all(Array.from({ length: 10 }, open))
  const request = toPost('slow@example.org')
  slow.send(request.slice(0, -10))
  headless.send('POST /api')
  kept.send(toPost('kept@example.org'))
  expect((await kept.receive('POST'))?.status).toBe(200)
  for (const [index, each] of stuck.entries()) each.send(toPost(`stuck.${index}@example.org`).slice(0, -10))
  await service.request(DOCUMENTS.openApiJson.path)

  const stoppedAt = performance.now()
  const stopped = stop(service)
  // The idle connection is closed when the service takes no new ones. The rest of a body is still read then.
  await kept.waitForClose()
  slow.send(request.slice(-10))
  expect((await open()).isClosed()).toBe(true)
  expect((await slow.receive('POST'))?.status).toBe(200)
  expect(await headless.receive('POST')).toBeUndefined()
  // Nobody can lengthen a stop, or make it a failure, with a body that does not arrive.
  expect(await stopped).toEqual(CLEAN)
  expect(performance.now() - stoppedAt).toBeLessThan(STOP_PHASE_ENDS_MS.requests)
  for (const each of stuck) {
    const reply = await each.receive('POST')
    expect([reply?.status, reply?.headers.get('connection')]).toEqual([408, 'close'])
  }
  expect(await readList(service.folder)).toEqual(['kept@example.org', 'slow@example.org'])
})

test.concurrent('the end of a terminal (SIGHUP) is a stop as on SIGTERM: the log says so, and every request is answered', async () => {
  const service = await startService()
  const lock = await holdLock(toListFile(service.folder))
  const waiting = service.subscribe('waiting@example.org')
  await service.request(DOCUMENTS.openApiJson.path)
  const stopped = stop(service, 'SIGHUP')
  await service.logged('"signal":"SIGHUP"')
  await lock.release()
  expect((await waiting).status).toBe(200)
  expect(await stopped).toEqual(CLEAN)
})

test.concurrent('nohup lets the service outlive its terminal', async () => {
  const service = await startService({ launcher: ['nohup'] })
  service.process.kill('SIGHUP')
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(await stop(service)).toEqual(CLEAN)
  expect(service.log()).not.toContain('SIGHUP')
})

test.concurrent('a stop waits for a lock of the list, and stores the addresses of clients that have disconnected', async () => {
  const service = await startService()
  const lock = await holdLock(toListFile(service.folder))
  // The first address is in a commit, and the others wait for the next.
  for (const email of ['first@example.org', 'second@example.org']) {
    const connection = await openConnection(service.port)
    connection.send(toPost(email))
    await service.request(DOCUMENTS.openApiJson.path)
    connection.close()
  }
  const waiting = service.subscribe('waiting@example.org')
  await service.request(DOCUMENTS.openApiJson.path)
  const stopped = stop(service)
  await until(async () => (await openConnection(service.port)).isClosed(), 'the service accepts no connection')
  await lock.release()
  expect((await waiting).status).toBe(200)
  expect(await stopped).toEqual(CLEAN)
  expect(service.log()).not.toContain('the store')
  expect(await readList(service.folder)).toEqual(['first@example.org', 'second@example.org', 'waiting@example.org'])
})

test.concurrent('a stop is forced when the store hangs, and says how many addresses it has not confirmed', async () => {
  const folder = await createFolder()
  const preload = join(folder, 'hang.ts')
  // The writer thread gets no batch of addresses, as if it were stuck in the one before.
  const hang = "postMessage(command) { if (command.name !== 'append') super.postMessage(command) }"
  await writeFile(preload, `globalThis.Worker = class extends Worker { ${hang} }`)
  const service = await startService({ folder, env: { BUN_OPTIONS: `--preload ${preload}` } })
  expect((await service.subscribe('ada@example.org')).status).toBe(500)
  expect(await stop(service)).toEqual({
    code: 1,
    msg: 'stopped by force: requests without a complete response: 0, addresses not confirmed: 1',
  })
})

test.concurrent('a second signal, a second after the first, ends the service at once', async () => {
  const service = await startService()
  const lock = await holdLock(toListFile(service.folder))
  const waiting = await openConnection(service.port)
  waiting.send(toPost('waiting@example.org'))
  await service.request(DOCUMENTS.openApiJson.path)
  const start = performance.now()
  service.process.kill('SIGTERM')
  await service.logged('stopping')
  await until(() => {
    service.process.kill('SIGINT')
    return service.process.exitCode !== null
  }, 'the service ends')
  // Signals within a second count as one.
  expect(performance.now() - start).toBeGreaterThan(1_000)
  expect(await service.stop()).toBe(1)
  expect(service.log()).not.toContain('stopped')
  await lock.release()
})

test.concurrent.each([
  ['SIGTERM', 'npm'],
  ['SIGINT', 'npm'],
  ['SIGINT', 'its process group, as a terminal does'],
] as const)('npm start stops cleanly on %s to %s', async (signal, receiver) => {
  const folder = await createFolder()
  const service = await startService({
    command: ['setsid', 'npm', 'start', '--silent'],
    folder: ROOT,
    env: { DATABASE_URL: `sqlite:${toListFile(folder)}` },
  })
  expect((await service.subscribe('npm@example.org')).status).toBe(200)
  if (receiver === 'npm') service.process.kill(signal)
  else process.kill(-service.process.pid, signal)
  await service.process.exited
  // npm may end before the service when both get the signal.
  await service.logged('"stopped"')
  expect(service.process.exitCode).toBe(0)
  expect(await readList(folder)).toEqual(['npm@example.org'])
})

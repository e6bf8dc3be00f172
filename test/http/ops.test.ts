/** The operations listener. disk.test.ts and lock.test.ts check that /readyz responds 503 while the store fails. */

import { afterAll, expect, test } from 'bun:test'
import { mkdir, statfs, utimes, writeFile } from 'node:fs/promises'
import pino from 'pino'
import { toLogged } from '../../src/failure.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { createOps } from '../../src/http/ops.ts'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { BOUND_BY_MODES } from '../support/disk.ts'
import { holdLock, toListFile } from '../support/list-file.ts'
import { readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'
import { exchange, toRequest } from '../support/raw.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const SITE = 'license: none\nlanguages: [en, de, pt-BR]\n'

const service = await startService({ site: SITE, env: { OPS_PORT: '0' } })
afterAll(async () => expect(await service.stop()).toBe(0))

/** Reads the metrics by the grammar of the text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
async function readMetrics(): Promise<ReadonlyMap<string, number>> {
  const response = await service.ops('/metrics')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).split('\n').filter(Boolean)
  const samples = lines.filter((line) => !/^# (?:HELP|TYPE) [a-z_]+ \S/.test(line))
  return new Map(
    samples.map((line) => {
      const [, name, value] = /^([a-z_]+(?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})?) (\S+)$/.exec(line) ?? []
      expect([line, value]).toEqual([line, expect.stringMatching(/^(?:-?[0-9.]+(?:e[+-]?[0-9]+)?|nan)$/i)])
      return [name!, Number(value)] as const
    }),
  )
}

test('/livez and /readyz respond 200', async () => {
  for (const path of ['/livez', '/readyz']) {
    const response = await service.ops(path)
    expect([response.status, await response.text()]).toEqual([200, 'ok\n'])
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

test('/config has the settings, and the site file with the digest of its bytes', async () => {
  const path = `${service.folder}/site.yaml`
  const digest = new Bun.CryptoHasher('sha256').update(SITE).digest('hex')
  expect(service.log()).toContain(`and the site file ${path}"`)
  expect(await (await service.ops('/config')).json()).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    base_url: 'http://127.0.0.1:3000',
    list: `sqlite:${service.folder}/data/rollcall.db`,
    site_file: { path, digest },
  })
})

test('addresses of a commit that failed are not accepted, and its duration is in seconds', async () => {
  const metrics = createMetrics([])
  metrics.commit(5, 2_000, false)
  metrics.commit(3, 4_000, true)
  const text = await (await metrics.expose(undefined, true)).text()
  expect(text).toMatch(/^rollcall_addresses_accepted_total 3$/m)
  expect(text).toMatch(/^rollcall_commit_duration_seconds_sum\{outcome="failed"\} 2$/m)
  expect(text).toMatch(/^rollcall_commit_duration_seconds_sum\{outcome="ok"\} 4$/m)
  const measure = { inboxSince: new Date(Date.now() - 60_000), compactionFails: false }
  const waiting = await (await metrics.expose(measure, true)).text()
  expect(Number(/^rollcall_inbox_age_seconds (.*)$/m.exec(waiting)?.[1])).toBeWithin(60, 120)
})

test('/metrics counts requests by known routes, commits and addresses', async () => {
  const start = performance.now()
  const before = await readMetrics()
  // What has not failed yet has a zero, so that an alert can see the first failure.
  for (const path of [ENDPOINT.path, '/', '/de', '/pt-br', 'other'])
    expect([path, before.get(`rollcall_requests_total{path="${path}",status="500"}`)]).toEqual([path, 0])
  expect(before.get('rollcall_commit_duration_seconds_count{outcome="failed"}')).toBe(0)
  expect((await service.subscribe('bob@site.io')).status).toBe(200)
  expect((await service.subscribe('BOB@site.io')).status).toBe(200)
  // The test of an owner is no reader.
  expect((await service.subscribe('bob@example.org')).status).toBe(200)
  expect((await service.subscribe('bob@example')).status).toBe(400)
  expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
  expect((await service.request('/bob@example.org?bob@example.org')).status).toBe(404)
  const after = await readMetrics()
  const increase = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? 0)

  expect(increase(`rollcall_requests_total{path="${ENDPOINT.path}",status="200"}`)).toBe(3)
  expect(increase(`rollcall_requests_total{path="${ENDPOINT.path}",status="400"}`)).toBe(1)
  expect(increase('rollcall_requests_total{path="/openapi.json",status="200"}')).toBe(1)
  expect(increase('rollcall_requests_total{path="other",status="404"}')).toBe(1)
  expect(increase('rollcall_commit_duration_seconds_count{outcome="ok"}')).toBe(3)
  expect(increase('rollcall_addresses_accepted_total')).toBe(2)
  // In seconds: one commit after the other takes less than the whole test.
  expect(increase('rollcall_commit_duration_seconds_sum{outcome="ok"}')).toBeWithin(
    0,
    (performance.now() - start) / 1000,
  )
  expect(after.get('process_resident_memory_bytes')).toBeGreaterThan(0)
  // In seconds: no processor gives more than the time that passes.
  const age = Date.now() / 1000 - (after.get('process_start_time_seconds') ?? 0) + 1
  expect(after.get('process_cpu_seconds_total')).toBeWithin(0.01, age * navigator.hardwareConcurrency)
  expect(after.get('process_open_fds')).toBeWithin(4, 100)
  expect(after.get('process_start_time_seconds')).toBeWithin(Date.now() / 1000 - 600, Date.now() / 1000 + 1)
})

test('the metrics start no timer', async () => {
  // Timers wake an idle machine up. A child that has nothing else to do ends by itself; its switches would show the timers.
  const script = `const { createMetrics } = await import('${ROOT}/src/http/metrics.ts')
    createMetrics([])
    const { readFileSync } = require('node:fs')
    const count = () => Number(/^voluntary_ctxt_switches:\\s*(\\d+)/m.exec(readFileSync('/proc/self/task/' + process.pid + '/status', 'utf8'))[1])
    // What the start has set going ends.
    await Bun.sleep(100)
    const before = count()
    // The time is the subject: a timer shows only while it passes.
    await Bun.sleep(2000)
    console.log(count() - before)
    process.exit()`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
  expect(String(stdout)).toMatch(/^\d+\n$/)
  // With a timer of 10 ms, 200.
  expect(Number(stdout)).toBeLessThan(50)
})

test('/metrics has the time of the newest backup, and not of what a failed one left', async () => {
  const readTime = async () => (await readMetrics()).get('rollcall_backup_timestamp_seconds')
  expect(await readTime()).toBeNaN()
  const folder = `${service.folder}/data/backups`
  await mkdir(folder)
  // Since when there is none.
  expect(Math.abs((await readTime())! - Date.now() / 1000)).toBeLessThan(60)
  for (const [name, time] of [
    ['rollcall-2026-01-01.db', 1_000],
    ['rollcall-2026-01-02.db', 2_000],
    ['.rollcall-2026-01-03.db.1.partial', 3_000],
  ] as const) {
    await writeFile(`${folder}/${name}`, '')
    await utimes(`${folder}/${name}`, time, time)
  }
  expect(await readTime()).toBe(2_000)
})

test('a folder of backups that the service may not read hides only the time of the backup', async () => {
  const other = await startService({ launcher: BOUND_BY_MODES, env: { OPS_PORT: '0' } })
  await mkdir(`${other.folder}/data/backups`, { mode: 0 })
  const text = await (await other.ops('/metrics')).text()
  expect(text).toMatch(/^rollcall_backup_timestamp_seconds nan$/im)
  expect(text).toMatch(/^rollcall_compaction_failing 0$/m)
  expect(await other.stop()).toBe(0)
})

test('/metrics says whether the list can be written, as /readyz does', async () => {
  const readReady = async () => (await readMetrics()).get('rollcall_ready')
  expect(await readReady()).toBe(1)
  const lock = await holdLock(toListFile(service.folder))
  expect(await readReady()).toBe(0)
  await lock.release()
  await until(async () => (await readReady()) === 1, 'it is ready again')
})

test('/metrics has the age of the inbox, also while the list is locked, and the free space', async () => {
  const readAge = async () => (await readMetrics()).get('rollcall_inbox_age_seconds')
  await until(async () => (await readAge()) === 0, 'the inbox is empty')
  const { bavail, bsize } = await statfs(service.folder)
  const free = (await readMetrics()).get('rollcall_disk_free_bytes') ?? 0
  expect(free % (16 * 1024 * 1024)).toBe(0)
  expect(free / (bavail * bsize)).toBeWithin(0.5, 2)

  const lock = await holdLock(toListFile(service.folder))
  const waiting = service.subscribe('late@example.org')
  // The writer thread waits for the lock, and a scrape does not wait for the thread.
  await until(async () => Number.isNaN(await readAge()), 'the age is unknown')
  await lock.release()
  await waiting
})

test.each(['alerts.yml', 'dashboard.json'])('deploy/%s uses metrics that exist', async (name) => {
  const series = [...(await readMetrics()).keys()]
  // Clients cannot create series, and no label has an address.
  expect(series.filter((line) => line.includes('@'))).toEqual([])
  const metrics = series.map((line) => line.replace(/\{.*/, ''))
  const used = readText(`deploy/${name}`).match(/(?<![\w-])(?:rollcall|process)_\w+/g) ?? []
  expect(used.length).toBeGreaterThan(4)
  expect(used.filter((metric) => !metrics.includes(metric))).toEqual([])
})

test('a name that leads here by DNS rebinding is refused', async () => {
  const port = service.opsPort ?? 0
  const ask = async (host: string) => (await exchange(port, toRequest('GET /metrics', [`Host: ${host}`])))?.status
  for (const host of ['127.0.0.1', `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost', `LOCALHOST:${port}`]) {
    expect([host, await ask(host)]).toEqual([host, 200])
  }
  for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.', '']) {
    expect([host, await ask(host)]).toEqual([host, 403])
  }
})

test('a listener on all addresses, which other machines reach, has any name', async () => {
  const other = await startService({ env: { OPS_PORT: '0', OPS_HOST: '0.0.0.0' } })
  for (const host of ['rollcall', 'rollcall.default.svc:9000', '127.0.0.1']) {
    const reply = await exchange(other.opsPort ?? 0, toRequest('GET /livez', [`Host: ${host}`]))
    expect([host, reply?.status]).toEqual([host, 200])
  }
  expect(await other.stop()).toBe(0)
})

test.each(['localhost', '127.0.0.2'])('a listener on %s has no other name', async (OPS_HOST) => {
  const other = await startService({ env: { OPS_PORT: '0', OPS_HOST } })
  for (const [host, status] of [
    [OPS_HOST, 200],
    ['rollcall', 403],
  ] as const) {
    const response = await fetch(`http://${OPS_HOST}:${other.opsPort}/livez`, { headers: { Host: host } })
    expect([host, response.status]).toEqual([host, status])
  }
  expect(await other.stop()).toBe(0)
})

test('other paths get 404, other methods 405, and the public port has none of these paths', async () => {
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await service.request(path)).status).toBe(404)
  expect((await service.ops('/')).status).toBe(404)
  expect((await service.ops(ENDPOINT.path, { method: 'POST' })).status).toBe(404)
  const refused = await service.ops('/metrics', { method: 'POST' })
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  const head = await service.ops('/livez', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('an unexpected error is in the log, and its text not in the response', async () => {
  const lines: string[] = []
  const ops = await createOps({
    metrics: createMetrics([]),
    intake: { ready: async () => {} },
    store: { measure: async () => undefined as never },
    log: pino({ serializers: { err: toLogged } }, { write: (line) => void lines.push(line) }),
    host: '127.0.0.1',
    settings: { base_url: 'http://127.0.0.1:3000', version: '1.0.0', list: 'sqlite:list.db', site_file: null },
  })
  const response = ops.error(new Error('a defect'))
  expect([response.status, await response.text()]).toEqual([500, 'failed: see the log\n'])
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ err: expect.objectContaining({ message: 'a defect' }) }),
  ])
})

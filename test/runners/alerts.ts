/**
 * `npm run test:only -- monitoring`: a real Prometheus watches a real service. Each alert is triggered by what it warns of, leads to
 * its part of the guide, and is resolved by what that part says. The rules are those of deploy/alerts.yml with shorter times.
 */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readText } from '../support/markdown.ts'
import { findProgram } from '../support/paths.ts'
import { type RunningService, runCommand, type ServiceOptions, startService } from '../support/service.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'
import { createFolder, findPort, RUNNING } from '../support/workspace.ts'

/** A scrape waits for the store up to 5 s, and Prometheus gives it as long as its interval. */
const SCRAPE_S = 6
/** In the place of minutes and hours: a rate needs two scrapes. */
const WINDOW = '20s'
const IN_NAMESPACE = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]

const RULES = readText('deploy/alerts.yml')
  .replace(/for: \w+/g, 'for: 0s')
  .replace(/\[\w+\]/g, `[${WINDOW}]`)
  .replace('offset 24h', `offset ${WINDOW}`)
  .replace('> 300', '> 5')
  .replace('< 1e9', '< 40e6')

/** Starts a service, and a Prometheus that scrapes it. Both end with the test. */
async function watch(options: ServiceOptions = {}) {
  const opsPort = findPort()
  const env = { DATABASE_URL: 'sqlite:rollcall.db', ...options.env, OPS_PORT: String(opsPort) }
  const start = (folder?: string) => startService({ ...options, env, ...(folder && { folder }) })
  const service = await start()
  const prometheus = await startPrometheus(opsPort)
  await until(async () => (await prometheus.query('up')) === '1', 'the first scrape')
  const isFiring = async (alert: string) => (await prometheus.findAlerts()).includes(alert)
  return {
    service,
    /** Starts the service again, with the same list and ports. */
    restart: () => start(service.folder),
    query: prometheus.query,
    isFiring,
    /** Waits until an alert fires. @returns what the guide says about it */
    async fires(alert: string): Promise<string> {
      await until(() => isFiring(alert), `${alert} fires`)
      return findAdvice(alert)
    },
    resolves: (alert: string) => until(async () => !(await isFiring(alert)), `${alert} is resolved`),
  }
}

/** What the API of Prometheus sends (https://prometheus.io/docs/prometheus/latest/querying/api/). */
interface QueryData {
  /** A sample is its time and its value. */
  readonly result: readonly { readonly value: readonly [number, string] }[]
}
interface AlertData {
  readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[]
}

async function startPrometheus(opsPort: number) {
  const folder = await createFolder()
  const address = `127.0.0.1:${findPort()}`
  await writeFile(join(folder, 'rollcall-alerts.yml'), RULES)
  const config = `global: { scrape_interval: ${SCRAPE_S}s, evaluation_interval: 1s }
rule_files: [rollcall-alerts.yml]
scrape_configs:
  - job_name: rollcall
    static_configs:
      - targets: [127.0.0.1:${opsPort}]
`
  await writeFile(join(folder, 'prometheus.yml'), config)
  const program = findProgram('prometheus') ?? 'prometheus'
  // Debian's default for the data is a folder of the system.
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`]
  const child = Bun.spawn([program, ...args], {
    cwd: folder,
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'log')),
  })
  RUNNING.add(child)
  const get = async <T>(path: string) => {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    return ((await response.json()) as { data: T }).data
  }
  await until(async () => {
    const response = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    return response?.ok === true
  }, 'Prometheus is ready')
  return {
    /** The value of the first series of an expression. */
    async query(expression: string): Promise<string | undefined> {
      const { result } = await get<QueryData>(`query?query=${encodeURIComponent(expression)}`)
      return result[0]?.value[1]
    },
    /** The names of the alerts that fire. */
    async findAlerts(): Promise<string[]> {
      const { alerts } = await get<AlertData>('alerts')
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
    },
  }
}

/** What docs/operations.md tells an owner to do about an alert. */
function findAdvice(alert: string): string {
  const cells = readText('docs/operations.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${alert}\` |`))
    ?.split(' | ')
  return cells?.at(-1) ?? `no row for ${alert}`
}

/** Reads a section of the troubleshooting guide. */
function readSection(heading: string): string {
  const [, section = ''] = readText('docs/troubleshooting.md').split(`\n## ${heading}\n`)
  return section.split('\n## ')[0] ?? ''
}

/** Runs `rollcall doctor` with the settings of a service, as an owner does. */
const doctor = ({ folder, opsPort }: RunningService) =>
  runCommand(['doctor'], {
    folder,
    env: { DATABASE_URL: 'sqlite:rollcall.db', OPS_PORT: String(opsPort), BASE_URL: 'http://127.0.0.1:3000' },
  })

test.concurrent('a service that is not there: start it', async () => {
  const { service, restart, fires, resolves } = await watch()
  expect(await service.stop()).toBe(0)
  expect(await fires('RollcallDown')).toContain('systemctl status rollcall')
  await restart()
  await resolves('RollcallDown')
})

test.concurrent('a program that holds the lock of the list: end it', async () => {
  const { service, isFiring, fires, resolves } = await watch()
  const db = new Database(join(service.folder, 'rollcall.db'))
  db.run('PRAGMA busy_timeout = 10000')
  // Compaction has not begun when the lock is taken right after the response.
  await until(async () => {
    expect((await service.subscribe('waits@example.org')).status).toBe(200)
    db.run('BEGIN IMMEDIATE')
    if (db.query('SELECT 1 FROM inbox').get()) return true
    db.run('ROLLBACK')
    return false
  })
  // Before the first reader gets 500.
  const advice = await fires('RollcallNotReady')
  expect(advice).toContain('(troubleshooting.md#requests-get-500)')
  expect(await isFiring('RollcallErrors')).toBe(false)
  await service.logged('another process holds its lock')
  expect(readSection('Requests get 500')).toContain('| `another process holds its lock` |')
  expect(await fires('RollcallInboxOld')).toContain('rollcall doctor')
  expect((await doctor(service)).stdout).toMatch(/^service +wrong: .*503/m)
  expect((await service.subscribe('late@example.org')).status).toBe(500)
  expect(await fires('RollcallErrors')).toBe(advice)
  db.run('ROLLBACK')
  db.close()
  await resolves('RollcallNotReady')
  await resolves('RollcallInboxOld')
  await resolves('RollcallErrors')
  expect((await doctor(service)).stdout).not.toContain('wrong: ')
})

test.concurrent('a full disk: make space', async () => {
  const folder = await createFolder()
  await mkdir(join(folder, 'data'))
  const launcher = [...IN_NAMESPACE, 'sh', '-c', 'mount -t tmpfs -o size=64m none data && exec "$@"', 'sh']
  const env = { DATABASE_URL: 'sqlite:data/rollcall.db' }
  const { service, fires, resolves } = await watch({ folder, launcher, env })
  const file = `/proc/${service.process.pid}/root${folder}/data/other`
  await writeFile(file, new Uint8Array(56 * 2 ** 20))
  expect(await fires('RollcallDiskFull')).toContain('(troubleshooting.md#a-full-disk)')
  expect(readSection('A full disk')).toContain('Make space')
  await rm(file)
  await resolves('RollcallDiskFull')
  expect((await service.subscribe('after@example.org')).status).toBe(200)
})

test.concurrent('a disk that syncs slowly: end what else uses it', async () => {
  const counter = await createSyncCounter()
  const { service, query, fires, resolves } = await watch({ env: counter.env })
  const log = join(service.folder, 'rollcall.db-wal')
  expect((await service.subscribe('first@example.org')).status).toBe(200)
  await until(async () => (await query('rollcall_commit_duration_seconds_count{outcome="ok"}')) === '1')
  const release = counter.holdSyncsOf(log)
  const reply = service.subscribe('slow@example.org')
  // The rule is about commits of more than a second.
  await Bun.sleep(2_000)
  release()
  expect((await reply).status).toBe(200)
  expect(await fires('RollcallSlowCommits')).toContain('look for other work on the disk')
  await resolves('RollcallSlowCommits')
})

test.concurrent('an old backup: make one', async () => {
  const folder = await createFolder()
  await mkdir(join(folder, 'backups'))
  const old = join(folder, 'backups/old.db')
  await writeFile(old, '')
  const before = Date.now() / 1000 - 3 * 86_400
  await utimes(old, before, before)
  const { service, fires, resolves } = await watch({ folder })
  expect(await fires('RollcallBackupOld')).toContain('sudo systemctl start rollcall-backup')
  expect((await doctor(service)).stdout).toMatch(/backup.*wrong: /)
  // As the unit does.
  const args = ['backup', 'backups/new.db', '--list', 'sqlite:rollcall.db']
  expect(await runCommand(args, { folder: service.folder })).toMatchObject({ code: 0 })
  await resolves('RollcallBackupOld')
})

test.concurrent('nobody subscribes: try the form with an address of your own', async () => {
  const { service, query, isFiring, fires, resolves } = await watch()
  expect(await fires('RollcallNoAcceptance')).toContain('try the form')
  // An address in a reserved domain is no reader.
  expect((await service.subscribe('name@example.org')).status).toBe(200)
  await until(async () => (await query('rollcall_requests_total{path="/api/newsletter",status="200"}')) === '1')
  expect(await isFiring('RollcallNoAcceptance')).toBe(true)
  expect((await service.subscribe('me@gazette.net')).status).toBe(200)
  await resolves('RollcallNoAcceptance')
})

/** Metrics for Prometheus. No label and no value comes from a request. */

import { existsSync, readdirSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { IntakeMetrics } from '../intake/intake.ts'
import { CACHE_CONTROL, ENDPOINT, OTHER } from '../routes.ts'
import type { StoreMeasure } from '../subscriber.ts'
import { VERSION } from '../version.ts'

/** Counts what the service does. Each call is cheap and never throws. */
export interface Metrics extends IntakeMetrics {
  /** A request got its response. */
  request(path: string, status: number): void
  /**
   * Responds with all metrics, in the text format of Prometheus.
   *
   * @param store its state; undefined when it did not answer
   * @param isReady what `/readyz` says
   */
  expose(store: StoreMeasure | undefined, isReady: boolean): Promise<Response>
}

/** The free bytes are rounded down to this, so that they do not show whether an address took a page of the list. */
const FREE_BYTES_STEP = 16 * 1024 * 1024

/**
 * Creates metrics in a separate registry, so that two services in one process do not share them.
 *
 * @param pages the paths of the pages, which take the form
 */
export function createMetrics(pages: readonly string[]): Metrics {
  const registry = new Registry()
  const registers = [registry]
  addProcessMetrics(registers)
  new Gauge({
    name: 'rollcall_build_info',
    help: 'Always 1; the version is a label.',
    labelNames: ['version'],
    registers,
  }).set({ version: VERSION }, 1)
  const requests = new Counter({
    name: 'rollcall_requests_total',
    help: 'Responses sent, by path and status. Paths that do not exist, and unexpected errors, count as other.',
    labelNames: ['path', 'status'],
    registers,
  })
  const accepted = new Counter({
    name: 'rollcall_addresses_accepted_total',
    help: 'Addresses on stable storage, new and known, without those in reserved domains, which are no readers.',
    registers,
  })
  const commits = new Histogram({
    name: 'rollcall_commit_duration_seconds',
    help: 'Duration of a commit, with the sync to stable storage.',
    labelNames: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const gauges = addStoreGauges(registers)
  // A rule that looks for an increase must see the value before the first failure (https://github.com/prometheus/prometheus/issues/1673).
  for (const path of [ENDPOINT.path, ...pages, OTHER]) requests.inc({ path: path.toLowerCase(), status: 500 }, 0)
  commits.zero({ outcome: 'failed' })

  return {
    request: (path, status) => requests.inc({ path, status }),
    commit(readers, milliseconds, ok) {
      commits.observe({ outcome: ok ? 'ok' : 'failed' }, milliseconds / 1000)
      if (ok) accepted.inc(readers)
    },
    async expose(store, isReady) {
      gauges.ready.set(Number(isReady))
      setStoreGauges(gauges, store)
      const headers = { 'Content-Type': registry.contentType, 'Cache-Control': CACHE_CONTROL.none }
      return new Response(await registry.metrics(), { headers })
    },
  }
}

/** Adds what is measured when it is asked for. */
function addStoreGauges(registers: Registry[]) {
  const inboxAge = new Gauge({
    name: 'rollcall_inbox_age_seconds',
    help: 'Age of the oldest address that waits for compaction; 0 when none waits, NaN when the store does not say.',
    registers,
  })
  const compactionFails = new Gauge({
    name: 'rollcall_compaction_failing',
    help: '1 while compaction fails: addresses stay in the inbox until it works; NaN when the store does not say.',
    registers,
  })
  const freeBytes = new Gauge({
    name: 'rollcall_disk_free_bytes',
    help: 'Free space on the disk of a SQLite list, in steps of 16 MiB; NaN when it is not known.',
    registers,
  })
  const ready = new Gauge({
    name: 'rollcall_ready',
    help: '1 while the list can be written, as /readyz says; 0 while the store fails.',
    registers,
  })
  const backupTime = new Gauge({
    name: 'rollcall_backup_timestamp_seconds',
    help: 'Time of the newest copy (*.db) in the folder "backups" next to a SQLite list, or of that folder while it has no copy; NaN without the folder, or if it cannot be read.',
    registers,
  })
  return { inboxAge, compactionFails, freeBytes, ready, backupTime }
}

/** Sets what the store says. NaN means that it is not known: a rule that compares it with a number does not fire. */
function setStoreGauges(gauges: ReturnType<typeof addStoreGauges>, store: StoreMeasure | undefined): void {
  const now = Date.now()
  // Nothing waits without a date.
  const inboxSince = store?.inboxSince?.getTime() ?? now
  gauges.inboxAge.set(store ? (now - inboxSince) / 1000 : Number.NaN)
  gauges.compactionFails.set(store ? Number(store.compactionFails) : Number.NaN)
  const freeBytes = store?.freeBytes ?? Number.NaN
  gauges.freeBytes.set(Math.floor(freeBytes / FREE_BYTES_STEP) * FREE_BYTES_STEP)
  const backupAt = store?.backupAt?.getTime() ?? Number.NaN
  gauges.backupTime.set(backupAt / 1000)
}

/**
 * Adds what every Prometheus client has of its process. `collectDefaultMetrics` starts a timer that wakes an idle machine up a
 * hundred times a second, for metrics that are zero under Bun.
 */
function addProcessMetrics(registers: Registry[]): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()))
  if (!existsSync(DESCRIPTORS)) return
  new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    registers,
    collect() {
      this.set(readdirSync(DESCRIPTORS).length)
    },
  })
}

/** The open files of this process (proc_pid_fd(5)), on Linux. */
const DESCRIPTORS = '/proc/self/fd'

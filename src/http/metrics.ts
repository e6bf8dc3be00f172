/** What the service counts, for Prometheus. No label and no value is taken from what a caller sent. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { IntakeMetrics } from '../intake/intake.ts'

/** Where the service reports what happened; each call is cheap and never throws. */
export interface Metrics extends IntakeMetrics {
  /** A request was answered; the time is from its arrival, in milliseconds. */
  request(route: string, status: number, milliseconds: number): void
  /** All of it in the Prometheus text format, version 0.0.4. */
  expose(): Promise<{ readonly mediaType: string; readonly text: string }>
}

/** Creates a registry of its own, so that two services in one process do not mix. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectProcessMetrics(registry)

  const requests = new Counter({
    name: 'rollcall_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['route', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'rollcall_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer.',
    labelNames: ['route'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const commitDuration = new Histogram({
    name: 'rollcall_commit_duration_seconds',
    help: 'Time that a commit took, the sync to stable storage included.',
    labelNames: ['outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const commitSize = new Histogram({
    name: 'rollcall_commit_addresses',
    help: 'Addresses in a commit.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096],
    registers,
  })
  const accepted = new Counter({
    name: 'rollcall_addresses_accepted_total',
    help: 'Addresses confirmed, new or known.',
    registers,
  })
  let lastAcceptance = Number.NaN
  new Gauge({
    name: 'rollcall_seconds_since_last_acceptance',
    help: 'Seconds since this process last confirmed an address; NaN before the first.',
    registers,
    collect() {
      this.set((performance.now() - lastAcceptance) / 1000)
    },
  })

  return {
    request(route, status, milliseconds) {
      requests.inc({ route, status })
      duration.observe({ route }, milliseconds / 1000)
    },
    accepted(addresses) {
      accepted.inc(addresses)
      lastAcceptance = performance.now()
    },
    commit(addresses, milliseconds, ok) {
      commitSize.observe(addresses)
      commitDuration.observe({ outcome: ok ? 'ok' : 'failed' }, milliseconds / 1000)
    },
    expose: async () => ({ mediaType: registry.contentType, text: await registry.metrics() }),
  }
}

// Those of the process are true under Bun; those of Node's event loop and heap spaces are not (NaN, zeros).
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_')) registry.removeSingleMetric(name)
  }
}

/** Takes one sample: starts a contender in a new process, sends a load, and measures. */

import { availableParallelism } from 'node:os'
import { measureCommand, measurePages } from './command.ts'
import { CONTENDERS, type Contender, type ContenderName } from './contenders.ts'
import { runOpenLoop } from './half-load.ts'
import type { Pins } from './machine.ts'
import { type Running, startContender } from './process.ts'
import { NEW } from './requests.ts'
import type { Sample } from './sample.ts'
import type { Load } from './trial.ts'
import { runWrk } from './wrk.ts'

export interface MeasureOptions {
  readonly pins: Pins | undefined
  /** Seconds of load that are measured. */
  readonly seconds: number
}

/** Seconds of load before the measurement, for the JIT compiler and the first pages of a file. */
const WARM_UP_S = 1

/** Describes the method for the report. */
export const METHOD = [
  `${WARM_UP_S} s of load before each measurement; work that is deferred under load (compaction) counts: the CPU time until the server is idle is added`,
  'CPU and memory of all threads and child processes of the server, from /proc; memory is the peak (VmHWM)',
  'PostgreSQL: the CPU of the database server counts, its memory does not; shared_buffers is 1 GB',
  'half load: half of the rate that the same process has just reached, on a schedule that does not wait for responses; latency counts from when a request was due',
]

/** Takes one sample of a contender. */
export async function measure(name: ContenderName, load: Load, options: MeasureOptions): Promise<Sample> {
  if (load.kind === 'command') return await measureCommand(load.command, name, options.pins)
  if (load.kind === 'pages') return await measurePages(name, options.pins)
  const contender: Contender = CONTENDERS[name]
  if (load.kind === 'full') return await measureFull(contender, load, options)
  const running = await startContender(contender, options.pins)
  try {
    if (load.kind === 'start') return { start: running.startMs, memory: running.peakMemory() }
    return await measureHalf(running, load, options)
  } finally {
    await running.stop()
  }
}

async function measureFull(
  contender: Contender,
  load: Extract<Load, { kind: 'full' }>,
  options: MeasureOptions,
): Promise<Sample> {
  const pins = load.isSpread ? undefined : options.pins
  const { sends = load.requests.kind } = contender
  const running = await startContender(contender, pins)
  try {
    return await measureRate(running, { ...load, requests: { ...load.requests, kind: sends } }, { ...options, pins })
  } finally {
    await running.stop()
  }
}

/**
 * Work that a server defers under load counts too: the server is idle when the measurement begins, and the CPU time
 * until it is idle again is added to the duration, as if it could not respond meanwhile. Processes that share all cores
 * do that work on all of them.
 */
async function measureRate(
  running: Running,
  { requests, connections, minSeconds = 0, isSpread = false }: Extract<Load, { kind: 'full' }>,
  { pins, seconds }: MeasureOptions,
): Promise<Sample> {
  const wrk = { origins: running.origins, requests, connections, pins }
  // Each process needs as many requests to warm up.
  await runWrk({ ...wrk, seconds: WARM_UP_S * running.origins.length })
  await running.waitUntilIdle()
  const before = running.cpu()
  const result = await runWrk({ ...wrk, seconds: Math.max(seconds, minSeconds) })
  const during = running.cpu()
  await running.waitUntilIdle()
  const after = running.cpu()
  const deferred = (after - during) / (isSpread ? availableParallelism() : 1)
  return {
    rate: result.requests / (result.seconds + deferred),
    cpu: ((after - before) / result.requests) * 1e6,
    memory: running.peakMemory(),
  }
}

/** Latency at half of the rate that the same process has just reached. */
async function measureHalf(
  { origins, waitUntilIdle }: Running,
  { connections }: Extract<Load, { kind: 'half' }>,
  { pins, seconds }: MeasureOptions,
): Promise<Sample> {
  const full = await runWrk({ origins, requests: NEW, connections, pins, seconds: 2 * WARM_UP_S })
  await waitUntilIdle()
  const rate = full.requests / full.seconds / 2
  const { p50, p99 } = await runOpenLoop({ origin: origins[0] ?? '', rate, connections, seconds, pins })
  return { p50, p99, rate }
}

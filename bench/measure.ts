/** One sample: a contender started fresh, given a load, and looked at. */

import { measureCommand } from './command.ts'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import { runOpenLoop } from './half-load.ts'
import type { Pins } from './machine.ts'
import { type Running, startContender } from './process.ts'
import type { Sample } from './sample.ts'
import { type Load, NEW } from './trials.ts'
import { runWrk } from './wrk.ts'

export interface MeasureOptions {
  readonly pins: Pins | undefined
  /** Seconds of load that are measured. */
  readonly seconds: number
}

/** Seconds of load before, in which code gets compiled and a file gets its first pages. */
const WARM_UP_S = 1

/** How it is measured, in lines for people. */
export const METHOD = [
  `the server has ${WARM_UP_S} s of load before; what it puts off under load (settling) counts in: the CPU time that it takes until it is at rest is added`,
  'CPU and memory of all threads and child processes of the server, from /proc; memory is the peak (VmHWM)',
  'half load: half of the rate that the same process has just taken, on a schedule that waits for no answer; latency counts from when a request was due',
]

/** Measures one contender once. */
export async function measure(name: ContenderName, load: Load, options: MeasureOptions): Promise<Sample> {
  if (load.kind === 'command') return await measureCommand(load.command, name, options.pins)
  const running = await startContender(CONTENDERS[name], options.pins)
  try {
    if (load.kind === 'start') return { start: running.startMs, memory: running.peakMemory() }
    if (load.kind === 'half') return await measureHalf(running, load, options)
    return await measureFull(running, load, options)
  } finally {
    await running.stop()
  }
}

/**
 * What a server puts off under load is part of its work: it is at rest when the measurement begins, and the
 * CPU time that it takes until it is at rest again counts as if nothing could have been answered meanwhile.
 */
async function measureFull(
  running: Running,
  { requests, connections, lasting = 0 }: Extract<Load, { kind: 'full' }>,
  { pins, seconds }: MeasureOptions,
): Promise<Sample> {
  const wrk = { origin: running.origin, requests, connections, pins }
  await runWrk({ ...wrk, seconds: WARM_UP_S })
  await running.quiet()
  const before = running.cpu()
  const result = await runWrk({ ...wrk, seconds: Math.max(seconds, lasting) })
  const during = running.cpu()
  await running.quiet()
  const after = running.cpu()
  return {
    rate: result.requests / (result.seconds + after - during),
    cpu: ((after - before) / result.requests) * 1e6,
    memory: running.peakMemory(),
  }
}

/** Latency where there is room: at half the rate that the same process has just taken. */
async function measureHalf(
  { origin, quiet }: Running,
  { connections }: Extract<Load, { kind: 'half' }>,
  { pins, seconds }: MeasureOptions,
): Promise<Sample> {
  const full = await runWrk({ origin, requests: NEW, connections, pins, seconds: 2 * WARM_UP_S })
  await quiet()
  const rate = full.requests / full.seconds / 2
  const { p50, p99 } = await runOpenLoop({ origin, rate, connections, seconds, pins })
  return { p50, p99, rate }
}

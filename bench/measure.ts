/** Takes one sample: starts a contender in a new process with a new list, sends a load, and measures. */

import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENDPOINT } from '../src/routes.ts'
import type { Contender } from './contenders.ts'
import { type Checkout, createList, getFile, type ListKind, toCommand } from './lists.ts'
import { type Pins, runLoad } from './load.ts'
import { type Running, startContender } from './process.ts'
import type { Load, Metric, Trial } from './trials.ts'

/** The result of one run. */
export type Sample = Readonly<Partial<Record<Metric, number>>>

export interface MeasureOptions {
  /** The checkout that creates the lists of contenders which are not Rollcall. */
  readonly own: Checkout
  readonly pins: Pins | undefined
  /** Seconds of load that are measured. */
  readonly seconds: number
}

/** Describes the method for the report. */
export const METHOD = [
  'each sample is a fresh process with a fresh list or a copy of one; contenders of a trial run in turn, and a ratio is the median of the ratios of the rounds',
  'addresses are random; the server is warmed up for 1 s and idle before a measurement',
  'CPU and memory of all threads and child processes of the server, from /proc; the CPU time until it is idle (compaction) counts; memory is the peak (VmHWM)',
  'PostgreSQL: the CPU of the database server counts, its memory does not; shared_buffers is 1 GB',
]

/** Takes one sample of a contender. */
export async function measure(
  contender: Contender,
  { list: kind, load }: Trial,
  options: MeasureOptions,
): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    if (load.kind === 'command') return await measureCommand(contender, load.args, { kind, folder })
    if (load.kind === 'start') return await measureStart(contender, options)
    const pins = 'isSpread' in load && load.isSpread ? undefined : options.pins
    const list = await createList(contender.list ?? kind, contender.checkout ?? options.own, folder, pins)
    const running = await startContender(contender, { list, folder, pins })
    try {
      if (load.kind === 'wait') return { wait: await measureWait(running, pins) }
      return await measureLoad(
        running,
        { ...load, requests: contender.sends ?? load.requests ?? 'new' },
        { ...options, pins },
      )
    } finally {
      await running.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts in one sample, which has their median. */
const STARTS = 7

async function measureStart(contender: Contender, { pins }: MeasureOptions): Promise<Sample> {
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
    const running = await startContender(contender, { list: { url: `sqlite:${folder}/list.db` }, folder, pins })
    starts.push(running.startMs)
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { start: starts.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN }
}

async function measureLoad(
  running: Running,
  { connections, requests: kind = 'new', seconds, isSpread }: Extract<Load, { kind: 'full' }>,
  options: MeasureOptions,
): Promise<Sample> {
  const load = { origins: running.origins, kind, connections, pins: options.pins }
  // Each process needs as many requests to warm up.
  await runLoad({ ...load, seconds: running.origins.length })
  await running.waitUntilIdle()
  const before = running.cpu()
  const result = await runLoad({ ...load, seconds: seconds ?? options.seconds })
  const during = running.cpu()
  await running.waitUntilIdle()
  const after = running.cpu()
  // Processes that share all cores compact on all of them.
  const deferred = Math.max(after - during, 0) / (isSpread ? availableParallelism() : 1)
  return {
    burst: result.requests / result.seconds,
    rate: result.requests / (result.seconds + deferred),
    cpu: ((after - before) / result.requests) * 1e6,
    p99: result.p99,
    memory: running.peakMemory(),
  }
}

/** Requests that fill the inbox, on a machine that takes them in a minute. With a million, compaction begins under load. */
const INBOX = 850_000
const FILL_S = 60
/** Longer than the pause after which compaction begins, so that each request meets a slice. */
const PAUSE_MS = 300

/** Fills the inbox, then sends single requests until it is compacted. Returns the longest wait in milliseconds. */
async function measureWait(running: Running, pins: Pins | undefined): Promise<number> {
  const [origin = ''] = running.origins
  const load = { origins: running.origins, kind: 'new' as const, connections: 64, pins }
  const warm = await runLoad({ ...load, seconds: 2 })
  const seconds = Math.floor((INBOX / warm.requests) * warm.seconds) - 2
  await runLoad({ ...load, seconds: Math.min(Math.max(seconds, 1), FILL_S) })
  let longest = 0
  for (let sent = 0, idle = false; !idle && sent < 200; sent++) {
    const cpu = running.cpu()
    const pause = PAUSE_MS + Math.random() * 200
    await Bun.sleep(pause)
    idle = sent > 3 && (running.cpu() - cpu) * 1000 < pause * 0.03
    longest = Math.max(longest, await sendOne(origin, `${crypto.randomUUID()}@readers.lan`))
  }
  return longest
}

/** Sends one address. Returns the milliseconds until the response. @throws when it is not accepted */
async function sendOne(origin: string, email: string): Promise<number> {
  const start = performance.now()
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(origin + ENDPOINT.path, { method: 'POST', headers, body: JSON.stringify({ email }) })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`a single request got ${response.status}`)
  return performance.now() - start
}

let imports = 0

async function measureCommand(
  { checkout, list: ownKind }: Contender,
  args: readonly string[],
  { kind, folder }: { kind: ListKind; folder: string },
): Promise<Sample> {
  if (!checkout) throw new Error('only Rollcall has commands')
  const { url } = await createList(ownKind ?? kind, checkout, folder, undefined)
  // Each run of both checkouts imports the same file.
  const file = args.includes('FILE') ? await getFile('new', 2, 1_000_000) : ''
  const replace: Record<string, string> = { FILE: file, BACKUP: join(folder, `backup-${++imports}.db`) }
  const start = performance.now()
  const child = Bun.spawn([...toCommand(checkout), ...args.map((arg) => replace[arg] ?? arg)], {
    env: { PATH: process.env.PATH, DATABASE_URL: url },
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`rollcall ${args.join(' ')} failed: ${errors}`)
  const time = (performance.now() - start) / 1000
  return { time, commandCpu: Number(child.resourceUsage()?.cpuTime.total) / 1e6 }
}

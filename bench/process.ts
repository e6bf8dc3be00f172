/** Runs a contender in a process of its own, and measures it from outside. */

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contender } from './contenders.ts'
import type { BenchList } from './lists.ts'
import { type Pins, pinned } from './load.ts'

export interface Running {
  /** The origins of its processes, without a trailing slash. */
  readonly origins: readonly string[]
  /** Milliseconds from the start of the process to its first response. */
  readonly startMs: number
  /** CPU seconds of all its processes and threads so far, and of its database server. */
  cpu(): number
  /** Peak of the memory of all its processes so far, in MiB (VmHWM: resident set with shared pages). */
  peakMemory(): number
  /** Resolves when it uses almost no CPU: its deferred work is done. */
  waitUntilIdle(): Promise<void>
  /** Stops it. */
  stop(): Promise<void>
}

const START_DEADLINE_MS = 30_000

// Longer than Rollcall waits before it compacts an idle list.
const IDLE_PERIOD_MS = 400
/** Share of a core that an idle server may use. */
const IDLE_CPU_SHARE = 0.03
const IDLE_DEADLINE_MS = 120_000

export interface StartOptions {
  readonly list: BenchList
  /** Where it may write. */
  readonly folder: string
  readonly pins: Pins | undefined
}

/**
 * Starts a contender, and waits for its first response.
 *
 * @throws Error with its standard error, when it does not respond
 */
export async function startContender(contender: Contender, { list, folder, pins }: StartOptions): Promise<Running> {
  const ports = Array.from({ length: contender.processes ?? 1 }, takeFreePort)
  const { command, environment } = contender.launch({ port: ports[0] ?? 0, folder, list })
  const { server } = list
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  const stderr = join(folder, 'stderr.log')
  const errors = openSync(stderr, 'a')
  const start = performance.now()
  const children = ports.map((port) =>
    Bun.spawn(pinned(pins?.server, command), {
      env: { PATH: process.env.PATH, ...environment, PORT: String(port) },
      cwd: folder,
      stdout: 'ignore',
      stderr: errors,
    }),
  )
  closeSync(errors)
  const pids = children.map(({ pid }) => pid)
  try {
    for (const [index, origin] of origins.entries())
      await waitForResponse({ origin, pid: pids[index] ?? 0 }, contender.probe ?? '/')
  } catch (error) {
    for (const child of children) child.kill('SIGKILL')
    throw new Error(`${contender.title} does not start: ${readFileSync(stderr, 'utf8').trim() || String(error)}`)
  }
  const startMs = performance.now() - start
  const readAllCpu = () => sum([...pids, ...(server === undefined ? [] : [server])].map(readCpu))

  async function waitUntilIdle(): Promise<void> {
    const end = performance.now() + IDLE_DEADLINE_MS
    while (performance.now() < end) {
      const [cpu, since] = [readAllCpu(), performance.now()]
      await Bun.sleep(IDLE_PERIOD_MS)
      if ((readAllCpu() - cpu) * 1000 < (performance.now() - since) * IDLE_CPU_SHARE) return
    }
    throw new Error(`${contender.title} is not idle after ${IDLE_DEADLINE_MS / 1000} s`)
  }

  return {
    origins,
    startMs,
    cpu: readAllCpu,
    peakMemory: () => sum(pids.map(readPeakMemory)),
    waitUntilIdle,
    stop: async () => void (await Promise.all(children.map(stopChild))),
  }
}

async function stopChild(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), 12_000)
  await child.exited
  clearTimeout(killer)
}

/** Finds a free port. */
function takeFreePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}

async function waitForResponse({ origin, pid }: { origin: string; pid: number }, path: string): Promise<void> {
  const end = performance.now() + START_DEADLINE_MS
  while (performance.now() < end) {
    const response = await fetch(origin + path, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response) return
    if (!isAlive(pid)) break
    await Bun.sleep(1)
  }
  throw new Error('no response')
}

function isAlive(pid: number): boolean {
  return readProc(`${pid}/stat`) !== '' && !/\) [ZX] /.test(readProc(`${pid}/stat`))
}

/**
 * CPU seconds of a process and its descendants. The first number of schedstat is nanoseconds on a core. Children that have
 * ended, such as processes of PostgreSQL, are in the stat of their parent, in ticks of 10 ms.
 */
function readCpu(root: number): number {
  let seconds = 0
  for (const pid of listTree(root)) {
    for (const task of listTasks(pid)) seconds += Number(readProc(`${pid}/task/${task}/schedstat`).split(' ')[0]) / 1e9
    const fields = readProc(`${pid}/stat`).split(') ').at(-1)?.split(' ').map(Number) ?? []
    seconds += ((fields[13] ?? 0) + (fields[14] ?? 0)) / 100
  }
  return seconds
}

function readPeakMemory(root: number): number {
  const kib = listTree(root).map((pid) => Number(/VmHWM:\s+(\d+)/.exec(readProc(`${pid}/status`))?.[1] ?? 0))
  return sum(kib) / 1024
}

function listTree(root: number): number[] {
  const children = listTasks(root).flatMap((task) => readProc(`${root}/task/${task}/children`).split(' '))
  return [root, ...children.filter(Boolean).flatMap((pid) => listTree(Number(pid)))]
}

function listTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Reads a file in /proc; empty if the process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

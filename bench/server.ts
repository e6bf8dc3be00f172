/** Runs a contender in processes of its own, and measures it from outside. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPort } from '../test/support/workspace.ts'
import type { Contender } from './contenders.ts'
import type { BenchList } from './lists.ts'
import type { Pins } from './load.ts'

export interface Server {
  /** The port of each process. */
  readonly ports: readonly number[]
  /** Milliseconds from the start of the processes to their first response. */
  readonly startMs: number
  /** CPU seconds of all processes and threads so far, and of the database server. */
  cpu(): number
  /** Peak of the memory of all processes, in MiB (VmHWM: resident set with shared pages). */
  peakMemory(): number
  /** Resolves when it uses almost no CPU: its deferred work is done. */
  waitUntilIdle(): Promise<void>
  stop(): Promise<void>
}

const START_DEADLINE_MS = 30_000
const IDLE_DEADLINE_MS = 120_000
/** Longer than Rollcall waits before it compacts. */
const IDLE_PERIOD_MS = 400
/** Share of a core that an idle server may use. */
export const IDLE_CPU = 0.03

/**
 * Starts a contender on a list, and waits for its first response.
 *
 * @param folder where it may write
 * @throws Error with its standard error when it does not respond
 */
export async function startServer(
  { title, command, processes = 1 }: Contender,
  { list, folder, pins }: { readonly list: BenchList; readonly folder: string; readonly pins: Pins },
): Promise<Server> {
  const ports = Array.from({ length: processes }, findPort)
  const log = Bun.file(join(folder, 'stderr.log'))
  const start = performance.now()
  const children = ports.map((port) => {
    const settings = { NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: list.url }
    const env = { PATH: process.env.PATH, ENV_FILE: '/dev/null', ...settings }
    return Bun.spawn(['taskset', '-c', pins.server, ...command], { env, cwd: folder, stdout: 'ignore', stderr: log })
  })
  for (const [index, child] of children.entries()) {
    if (await hasResponse(ports[index] ?? 0, child)) continue
    for (const each of children) each.kill('SIGKILL')
    throw new Error(`${title} does not start: ${await log.text()}`)
  }
  const startMs = performance.now() - start
  const pids = children.map(({ pid }) => pid)
  const cpu = () => sum([...pids, ...list.servers].map(readCpu))

  return {
    ports,
    startMs,
    cpu,
    peakMemory: () => sum(pids.flatMap(listTree).map((pid) => readMemory(pid, 'VmHWM'))),
    async waitUntilIdle() {
      const end = performance.now() + IDLE_DEADLINE_MS
      while (performance.now() < end) {
        const [before, since] = [cpu(), performance.now()]
        await Bun.sleep(IDLE_PERIOD_MS)
        if ((cpu() - before) * 1000 < (performance.now() - since) * IDLE_CPU) return
      }
      throw new Error(`${title} is not idle after ${IDLE_DEADLINE_MS / 1000} s`)
    },
    async stop() {
      for (const child of children) child.kill('SIGTERM')
      await Promise.all(children.map(({ exited }) => exited))
    },
  }
}

async function hasResponse(port: number, child: Bun.Subprocess): Promise<boolean> {
  const end = performance.now() + START_DEADLINE_MS
  while (performance.now() < end && child.exitCode === null) {
    const signal = AbortSignal.timeout(5_000)
    const response = await fetch(`http://127.0.0.1:${port}/llms.txt`, { signal }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response) return true
    await Bun.sleep(1)
  }
  return false
}

/** CPU seconds of a process and its descendants. Ended children are in the times of their parent. In ticks of 10 ms. */
function readCpu(root: number): number {
  return sum(
    listTree(root).map((pid) => {
      const fields = readProc(`${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
      // utime, stime, cutime and cstime: proc(5).
      return sum(fields.slice(11, 15).map(Number)) / 100
    }),
  )
}

/** The resident memory of a process now, or its peak, in MiB: proc_pid_status(5). */
export function readMemory(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readProc(`${pid}/status`))?.[1] ?? 0) / 1024
}

/** A process with its descendants. The processes that are measured start others in their first thread. */
function listTree(pid: number): number[] {
  const children = readProc(`${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => listTree(Number(child)))]
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

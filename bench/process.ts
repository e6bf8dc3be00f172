/** A contender at work: started fresh, watched from outside, and stopped. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contender } from './contenders.ts'
import { type Pins, pinned } from './machine.ts'

export interface Running {
  /** Where it listens, without a trailing slash. */
  readonly origin: string
  /** Milliseconds from the start of the process to its first answer. */
  readonly startMs: number
  /** CPU seconds of all its processes and threads so far. */
  cpu(): number
  /** The most memory that its processes have held so far, in MiB (VmHWM: resident set, shared pages included). */
  peakMemory(): number
  /** Resolves when it has been idle for a while: what it put off has been done. */
  quiet(): Promise<void>
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>
}

const START_DEADLINE_MS = 30_000

// Longer than the pause that Rollcall's settling waits for.
const QUIET_MS = 400
const QUIET_SHARE = 0.03
const QUIET_DEADLINE_MS = 120_000

/**
 * Starts a contender in a new process with a new folder, and waits for its first answer.
 *
 * @throws Error with what it wrote to stderr, when it does not answer
 */
export async function startContender(contender: Contender, pins: Pins | undefined): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  const port = takeFreePort()
  const { command, environment } = await contender.launch({ port, folder, pins })
  const origin = `http://127.0.0.1:${port}`
  const begin = performance.now()
  const child = Bun.spawn(pinned(pins?.server, command), {
    env: { PATH: process.env.PATH, ...environment },
    cwd: folder,
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'stderr.log')),
  })
  const running = { origin, pid: child.pid }
  try {
    await waitForAnswer(running, contender.probe ?? '/')
  } catch (error) {
    child.kill('SIGKILL')
    const stderr = readFileSync(join(folder, 'stderr.log'), 'utf8').trim()
    throw new Error(`${contender.title} does not start: ${stderr || String(error)}`)
  }
  const startMs = performance.now() - begin

  async function quiet(): Promise<void> {
    const end = performance.now() + QUIET_DEADLINE_MS
    while (performance.now() < end) {
      const [cpu, at] = [readCpu(child.pid), performance.now()]
      await Bun.sleep(QUIET_MS)
      if ((readCpu(child.pid) - cpu) * 1000 < (performance.now() - at) * QUIET_SHARE) return
    }
    throw new Error(`${contender.title} does not come to rest`)
  }

  return {
    origin,
    startMs,
    cpu: () => readCpu(child.pid),
    peakMemory: () => readPeakMemory(child.pid),
    quiet,
    async stop() {
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), 12_000)
      await child.exited
      clearTimeout(killer)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A port that was free a moment ago. */
function takeFreePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}

async function waitForAnswer({ origin, pid }: { origin: string; pid: number }, path: string): Promise<void> {
  const end = performance.now() + START_DEADLINE_MS
  while (performance.now() < end) {
    const response = await fetch(origin + path, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response) return
    if (!isAlive(pid)) break
    await Bun.sleep(1)
  }
  throw new Error('no answer')
}

function isAlive(pid: number): boolean {
  return readProc(`${pid}/stat`) !== '' && !/\) [ZX] /.test(readProc(`${pid}/stat`))
}

/** CPU seconds of a process and its descendants: the first figure of schedstat is nanoseconds on a core. */
function readCpu(root: number): number {
  let nanoseconds = 0
  for (const pid of listTree(root))
    for (const task of listTasks(pid))
      nanoseconds += Number(readProc(`${pid}/task/${task}/schedstat`).split(' ')[0])
  return nanoseconds / 1e9
}

function readPeakMemory(root: number): number {
  const kib = listTree(root).map((pid) => Number(/VmHWM:\s+(\d+)/.exec(readProc(`${pid}/status`))?.[1] ?? 0))
  return kib.reduce((sum, size) => sum + size, 0) / 1024
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

/** Reads below /proc; a process that has gone in the meantime reads as nothing. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

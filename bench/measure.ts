/** Takes one sample: starts a contender in a new process with a new list, sends a load, and measures. */

import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENDPOINT } from '../src/routes.ts'
import type { Contender } from './contenders.ts'
import { createList, getFile, toCommand } from './lists.ts'
import { choosePins, runLoad } from './load.ts'
import { IDLE_CPU, type Server, startServer } from './server.ts'
import type { Load, Metric, Trial } from './trials.ts'

/** The result of one run. */
export type Sample = Readonly<Partial<Record<Metric, number>>>

/** Takes one sample of a contender. @param seconds of load */
export async function measure(contender: Contender, trial: Trial, seconds: number): Promise<Sample> {
  const { checkout } = contender
  const { load } = trial
  const pins = load.kind === 'command' || (load.kind === 'full' && load.isSpread) ? undefined : choosePins()
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
  try {
    const list = await createList(contender.list ?? trial.list, {
      checkout,
      folder,
      pins,
      isShared: load.kind !== 'command',
    })
    if (load.kind === 'command') return await measureCommand(toCommand(checkout.folder), load.args, { ...list, folder })
    const server = await startServer(contender, { list, folder, pins })
    try {
      if (load.kind === 'start') return { start: server.startMs }
      if (load.kind === 'wait') return { wait: await measureWait(server) }
      return await measureLoad(server, contender, { ...load, seconds })
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureLoad(
  { ports, cpu, waitUntilIdle, peakMemory }: Server,
  { sends: kind = 'new' }: Contender,
  { connections, seconds, isSpread }: Extract<Load, { kind: 'full' }> & { readonly seconds: number },
): Promise<Sample> {
  const load = { ports, kind, connections, pins: isSpread ? undefined : choosePins() }
  // Each process needs as many requests to warm up.
  await runLoad({ ...load, seconds: ports.length })
  await waitUntilIdle()
  const before = cpu()
  const result = await runLoad({ ...load, seconds })
  const during = cpu()
  await waitUntilIdle()
  const after = cpu()
  // Processes that share all cores compact on all of them.
  const deferred = (after - during) / (isSpread ? availableParallelism() : 1)
  return {
    burst: result.requests / result.seconds,
    rate: result.requests / (result.seconds + deferred),
    cpu: ((after - before) / result.requests) * 1e6,
    p99: result.p99,
    memory: peakMemory(),
  }
}

/** Requests that fill the inbox. With a million, compaction begins under load. */
const INBOX = 850_000
/** Longer than the pause after which compaction begins, so that each request meets a slice. */
const PAUSE_MS = 300

/** Fills the inbox, then sends single requests until it is compacted. Returns the longest wait in milliseconds. */
async function measureWait({ ports, cpu }: Server): Promise<number> {
  const load = { ports, kind: 'new' as const, connections: 64, pins: choosePins() }
  for (let requests = 0, rate = INBOX / 2; requests < INBOX * 0.95; ) {
    // The second run is as long as the first one shows that it must be.
    const result = await runLoad({ ...load, seconds: Math.max(Math.floor((INBOX - requests) / rate), 1) })
    requests += result.requests
    rate = result.requests / result.seconds
  }
  let longest = 0
  for (let sent = 0, isIdle = false; !isIdle && sent < 200; sent++) {
    const [before, pause] = [cpu(), PAUSE_MS + Math.random() * 200]
    await Bun.sleep(pause)
    isIdle = sent > 3 && (cpu() - before) * 1000 < pause * IDLE_CPU
    longest = Math.max(longest, await sendOne(ports[0] ?? 0))
  }
  return longest
}

/** Sends a new address. Returns the milliseconds until the response. @throws when it is not accepted */
async function sendOne(port: number): Promise<number> {
  const start = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}${ENDPOINT.path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@readers.lan` }),
  })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`a single request got ${response.status}`)
  return performance.now() - start
}

async function measureCommand(
  command: readonly string[],
  args: readonly string[],
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<Sample> {
  const replace: Record<string, string> = { BACKUP: join(folder, 'backup.db') }
  if (args.includes('FILE')) replace.FILE = await getFile('new', 2, 1_000_000)
  const start = performance.now()
  const child = Bun.spawn([...command, ...args.map((arg) => replace[arg] ?? arg)], {
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

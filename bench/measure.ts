/** Starts a contender in a new process on a new list, sends it loads, and measures. */

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ENDPOINT } from '../src/routes.ts'
import { createFolder } from '../test/support/workspace.ts'
import type { Contender } from './contenders.ts'
import { type BenchList, createList, getFile, toCommand } from './lists.ts'
import { APART, runLoad, TOGETHER } from './load.ts'
import { IDLE_CPU, type Server, startServer } from './server.ts'
import type { Load, Metric, Trial } from './trials.ts'

/** The result of one round. */
export type Sample = Readonly<Partial<Record<Metric, number>>>

/** A contender that is ready for the rounds of a trial. */
export interface Subject {
  measure(): Promise<Sample>
  end(): Promise<void>
}

/** Creates the list of a contender, starts its server, and warms it up. */
export async function prepare(contender: Contender, { load, list: kind, seconds }: Trial): Promise<Subject> {
  const { checkout } = contender
  const folder = await createFolder()
  const isFull = load.kind === 'full'
  const pins = toPins(load)
  const isFresh = load.kind === 'command' && load.args.includes('FILE')
  const list = await createList(contender.list ?? kind, { checkout, folder, pins, isFresh })
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (load.kind === 'command') {
    const measure = () => measureCommand(toCommand(checkout.folder), load.args, { list, folder })
    return { measure, end: async () => remove() }
  }
  const server = await startServer(contender, { list, folder, pins })
  try {
    // Each process needs as many requests to warm up.
    if (isFull) await sendLoad(server, { ...load, seconds: server.ports.length })
    await server.waitUntilIdle()
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    async measure() {
      if (isFull) return await measureLoad(server, { ...load, seconds })
      return load.kind === 'wait' ? { wait: await measureWait(server) } : { start: server.startMs }
    },
    async end() {
      await server.stop()
      remove()
    },
  }
}

type FullLoad = Extract<Load, { kind: 'full' }> & { readonly seconds: number }

function toPins(load: Load) {
  return load.kind === 'command' || (load.kind === 'full' && load.isSpread) ? TOGETHER : APART
}

function sendLoad({ ports }: Server, load: FullLoad) {
  return runLoad({ ...load, ports, kind: 'new', pins: toPins(load) })
}

async function measureLoad(server: Server, load: FullLoad): Promise<Sample> {
  const { cpu } = server
  const before = cpu()
  const { requests, seconds, p99 } = await sendLoad(server, load)
  const during = cpu()
  await server.waitUntilIdle()
  const after = cpu()
  // Processes that share all cores compact on all of them.
  const deferred = (after - during) / (load.isSpread ? availableParallelism() : 1)
  return {
    rate: requests / (seconds + deferred),
    cpu: ((after - before) / requests) * 1e6,
    p99,
    memory: server.peakMemory(),
  }
}

/** The inbox has at least so many addresses. With a million, compaction begins under load. */
const INBOX = 800_000
/** Longer than the pause after which compaction begins, so that each request meets a slice. */
const PAUSE_MS = 300

/** Fills the inbox, then sends single requests until it is compacted. Returns the longest wait in milliseconds. */
async function measureWait({ ports, cpu }: Server): Promise<number> {
  const load = { ports, kind: 'new', connections: 64, seconds: 5, pins: APART } as const
  for (let sent = 0; sent < INBOX; ) sent += (await runLoad(load)).requests
  let longest = 0
  for (let sent = 0, isIdle = false; !isIdle && sent < 200; sent++) {
    const [before, pause] = [cpu(), PAUSE_MS + Math.random() * 200]
    await Bun.sleep(pause)
    isIdle = sent > 3 && (cpu() - before) * 1000 < pause * IDLE_CPU
    const start = performance.now()
    const response = await fetch(`http://127.0.0.1:${ports[0]}${ENDPOINT.path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: `${crypto.randomUUID()}@readers.lan` }),
    })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`a single request got ${response.status}`)
    longest = Math.max(longest, performance.now() - start)
  }
  return longest
}

async function measureCommand(
  command: readonly string[],
  args: readonly string[],
  { list, folder }: { readonly list: BenchList; readonly folder: string },
): Promise<Sample> {
  const replace: Record<string, string> = { BACKUP: join(folder, 'backup.db') }
  if (args.includes('FILE')) replace.FILE = await getFile('new', 1_000_000)
  const start = performance.now()
  const child = Bun.spawn([...command, ...args.map((arg) => replace[arg] ?? arg)], {
    env: { PATH: process.env.PATH, ENV_FILE: '/dev/null', DATABASE_URL: list.url },
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`rollcall ${args.join(' ')} failed: ${errors}`)
  return { time: (performance.now() - start) / 1000 }
}

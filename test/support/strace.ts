/** Makes system calls of a command fail, with strace. */

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './wait.ts'

/** The n-th call of a kind fails, in each thread. */
export interface Fault {
  readonly call: string
  readonly n: number
  /** The name of an error, such as EIO. */
  readonly error: string
}

/** What one run under strace counts, or makes fail. */
export interface Trace {
  readonly folder: string
  /** The kinds of calls. */
  readonly calls: readonly string[]
  /** One, or several that happen in the same run. */
  readonly fault?: Fault | readonly Fault[] | undefined
  /** Only calls about these files of the folder count. `PID` in a name is the number of the process. */
  readonly files?: readonly string[] | undefined
}

const LOG = '.trace'

/**
 * Returns the command that starts a program under strace; the program and its arguments follow. strace is a process behind it (`-D`), so
 * that the program has the number of the shell, which names of files contain, and gets the signals.
 */
export function toTracer({ folder, calls, fault, files = [] }: Trace): string[] {
  const faults = fault ? [fault].flat() : []
  const rules = faults.map(({ call, n, error }) => ` -e inject=${call}:error=${error}:when=${n}`).join('')
  const paths = files.map((name) => ` -P "${join(folder, name).replaceAll('PID', '$$')}"`).join('')
  const traced = (fault ? faults.map(({ call }) => call) : calls).join(',')
  const log = join(folder, LOG)
  const command = `exec strace -f -q -D --seccomp-bpf -o "${log}"${paths} -e trace=${traced}${rules} "$@"`
  return ['sh', '-c', command, 'sh']
}

/** Reads what strace wrote about a process that has ended, and deletes it. A call that a fault met has `(INJECTED)`. */
export async function takeTrace(folder: string): Promise<string> {
  const log = join(folder, LOG)
  // strace ends after the process.
  await until(() => isComplete(readFileSync(log, 'utf8')), 'strace has written its log')
  const text = readFileSync(log, 'utf8')
  rmSync(log)
  return text
}

/** Whether the end of each thread is in a log. */
function isComplete(text: string): boolean {
  const threads = new Set([...text.matchAll(/^\d+/gm)].map(String))
  const ended = new Set([...text.matchAll(/^(\d+) +\+\+\+ /gm)].map(([, thread]) => thread))
  return threads.size > 0 && threads.size === ended.size
}

/** Counts the calls of each kind that one thread makes at most, because strace counts for each thread. */
export function countCalls(text: string): ReadonlyMap<string, number> {
  const perThread = new Map<string, number>()
  for (const [, thread, call] of text.matchAll(/^(\d+) +(\w+)\(/gm)) {
    const key = `${thread} ${call}`
    perThread.set(key, (perThread.get(key) ?? 0) + 1)
  }
  const most = new Map<string, number>()
  for (const [key, count] of perThread) {
    const call = key.split(' ')[1] ?? ''
    most.set(call, Math.max(most.get(call) ?? 0, count))
  }
  return most
}

/** As many of the first, of the last, and of those between. More calls of one kind than three times this are those of a loop. */
const SAMPLE = 20

/** Returns the faults of a run that made some calls: of each kind each one, or a sample of many. */
export function toFaults(text: string, error: string): Fault[] {
  return [...countCalls(text)].flatMap(([call, count]) => toNumbers(count).map((n) => ({ call, n, error })))
}

function toNumbers(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1)
  if (count <= 3 * SAMPLE) return all
  const step = (count - 2 * SAMPLE) / SAMPLE
  const between = Array.from({ length: SAMPLE }, (_, index) => SAMPLE + Math.ceil((index + 0.5) * step))
  return [...all.slice(0, SAMPLE), ...between, ...all.slice(-SAMPLE)]
}

/** Says what was tried: of each kind, how many of the calls failed, one in each run, and how many of these faults met a call. */
export function describeFaults(text: string, met: ReadonlyMap<Fault, boolean>): string {
  const kinds = [...countCalls(text)].map(([call, count]) => {
    const tried = [...met].filter(([fault]) => fault.call === call)
    const hits = tried.filter(([, isMet]) => isMet)
    return `  ${call.padEnd(12)}${String(count).padStart(4)} calls, ${tried.length} tried, ${hits.length} met`
  })
  return kinds.join('\n')
}

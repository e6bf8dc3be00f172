/** strace(1): records the system calls of processes with their times, and makes calls fail or wait. */

import { existsSync, readFileSync } from 'node:fs'
import { waitFor } from './check.ts'

interface Times {
  /** When the call began and had ended, in microseconds since 1970. All recordings of a machine share this clock. */
  readonly begin: number
  readonly end: number
}

/** A system call that succeeded, or a sync that failed. Paths are those at the time of the call. */
export type Call = Times &
  (
    | { readonly kind: 'open'; readonly path: string; readonly isCreated: boolean; readonly isTruncated: boolean }
    /** Without an offset, behind the last write. */
    | { readonly kind: 'write'; readonly path: string; readonly offset: number | undefined; readonly data: Buffer }
    | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
    | { readonly kind: 'sync' | 'failed sync' | 'unlink' | 'mkdir'; readonly path: string }
    /** The system was asked to forget its copies of a file: posix_fadvise(2). */
    | { readonly kind: 'forget'; readonly path: string }
    | { readonly kind: 'rename'; readonly path: string; readonly to: string }
    /** The path names the socket. */
    | { readonly kind: 'send' | 'receive'; readonly path: string; readonly data: Buffer }
  )

const CALLS =
  'openat,open,write,pwrite64,pwritev,writev,ftruncate,fsync,fdatasync,fadvise64,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,sendto,recvfrom'

/** Data of a call that is longer than this is cut: more than a page and more than a response. */
const LONGEST = 1_048_576

const RECORDING = ['-f', '-y', '-xx', '-ttt', '-T', '--quiet=attach', '-s', String(LONGEST), '-e', `trace=${CALLS}`]

/**
 * The command that runs a process and records it. The recorder is not the parent, so that signals reach the process.
 *
 * @param failing makes some calls of each thread fail: see `-e inject` in strace(1), such as `fsync:error=EIO:when=20+30`
 */
export function toRecorder(log: string, failing?: string): string[] {
  const rule = failing === undefined ? [] : ['-e', `inject=${failing}`]
  return ['strace', '-D', '--seccomp-bpf', ...RECORDING, ...rule, '-o', log]
}

/** Waits until the recording of a process that has ended is complete. */
export async function waitForRecording(log: string, pid: number): Promise<void> {
  const end = new RegExp(`^${pid} +\\S+ \\+\\+\\+ `, 'm')
  const isComplete = () => existsSync(log) && end.test(readFileSync(log, 'latin1').slice(-65_536))
  await waitFor(`the recording of process ${pid} ends`, isComplete, 120_000)
}

/** Records processes that run, and their future children, until the returned function is called. */
export function recordProcess(pid: number, log: string): Promise<() => Promise<void>> {
  return attach(pid, [...RECORDING, '-o', log])
}

/** A fault in the system calls on some files. */
export interface Injection {
  /** System calls, separated by commas. */
  readonly calls: string
  /** What happens to them: see `-e inject` in strace(1), such as `error=EIO` or `delay_enter=300000`. */
  readonly effect: string
  readonly paths: readonly string[]
}

/** Makes calls of a process fail until the returned function is called, which returns how many it met. */
export async function inject(
  pid: number,
  { calls, effect, paths }: Injection,
  log: string,
): Promise<() => Promise<number>> {
  const places = paths.flatMap((path) => ['-P', path])
  const rule = ['-e', `trace=${calls}`, '-e', `inject=${calls}:${effect}`]
  const detach = await attach(pid, ['-f', '--quiet=all', '-s', '0', ...places, ...rule, '-o', log])
  return async () => {
    await detach()
    return readFileSync(log, 'utf8').match(/\((INJECTED|DELAYED)\)/g)?.length ?? 0
  }
}

async function attach(pid: number, options: readonly string[]): Promise<() => Promise<void>> {
  const child = Bun.spawn(['strace', ...options, '-p', String(pid)], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const isAttached = () => {
    if (child.exitCode !== null) throw new Error(`strace cannot attach to a process of its user: run this as root`)
    return !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  }
  await waitFor('strace is attached', isAttached, 10_000)
  return async () => {
    // strace detaches at SIGINT, and the process goes on.
    child.kill('SIGINT')
    await child.exited
    process.off('exit', kill)
  }
}

/** Reads recordings. Returns the calls in the order in which they ended. */
export function readRecordings(logs: readonly string[]): Call[] {
  return logs
    .flatMap((log) => [...parseRecording(readFileSync(log, 'latin1'))])
    .sort((one, other) => one.end - other.end)
}

/** A call that another thread interrupts is in two lines. */
function* parseRecording(text: string): Generator<Call> {
  const unfinished = new Map<string, { readonly begin: number; readonly text: string }>()
  for (const line of text.split('\n')) {
    const [, pid = '', seconds = '', rest = ''] = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line) ?? []
    const begin = Math.round(Number(seconds) * 1e6)
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(pid, { begin, text: rest.slice(0, -'<unfinished ...>'.length).trimEnd() })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const start = resumed ? unfinished.get(pid) : { begin, text: '' }
    const call = start && parseCall(start.text + (resumed?.[1] ?? rest), start.begin)
    if (call) yield call
  }
}

function parseCall(text: string, begin: number): Call | undefined {
  const [, name = '', args = '', result = '', seconds = '0'] =
    /^(\w+)\((.*)\)\s+= (-?\d+)\b.*?(?:<(\d+\.\d+)>)?$/.exec(text) ?? []
  const isSync = name === 'fsync' || name === 'fdatasync'
  if (name === '' || (Number(result) < 0 && !isSync)) return undefined
  const times = { begin, end: begin + Math.round(Number(seconds) * 1e6) }
  // The file of a descriptor, unless it is deleted. Else the names are in quotes.
  const [, descriptor] = /^\d+<([^>]*)>(?!\(deleted\))/.exec(args) ?? []
  const path = decode(descriptor ?? '').toString()
  const strings = [...args.matchAll(/"([^"]*)"/g)].map(([, hex = '']) => decode(hex))
  const [first = '', second = ''] = strings.map(String)
  switch (name) {
    case 'open':
    case 'openat':
      return {
        ...times,
        kind: 'open',
        path: first,
        isCreated: args.includes('O_CREAT'),
        isTruncated: args.includes('O_TRUNC'),
      }
    case 'write':
    case 'writev':
    case 'pwrite64':
    case 'pwritev': {
      const data = Buffer.concat(strings).subarray(0, Number(result))
      const offset = name.startsWith('p') ? Number(/, (\d+)$/.exec(args)?.[1]) : undefined
      return descriptor === undefined ? undefined : { ...times, kind: 'write', path, offset, data }
    }
    case 'ftruncate':
      return { ...times, kind: 'truncate', path, size: Number(/, (\d+)$/.exec(args)?.[1]) }
    case 'fsync':
    case 'fdatasync':
      return { ...times, kind: Number(result) < 0 ? 'failed sync' : 'sync', path }
    case 'fadvise64':
      return args.endsWith('POSIX_FADV_DONTNEED') ? { ...times, kind: 'forget', path } : undefined
    case 'unlink':
    case 'unlinkat':
      return { ...times, kind: 'unlink', path: first }
    case 'mkdir':
    case 'mkdirat':
      return { ...times, kind: 'mkdir', path: first }
    case 'sendto':
    case 'recvfrom':
      return { ...times, kind: name === 'sendto' ? 'send' : 'receive', path, data: strings[0] ?? Buffer.alloc(0) }
    default:
      return { ...times, kind: 'rename', path: first, to: second }
  }
}

/** Every byte is `\xHH`. */
function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

/** The memory and the CPU time of a process, from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

export interface Memory {
  /** Resident memory in MiB. */
  readonly now: number
  /** The most that it was since the process began. */
  readonly peak: number
}

/** Reads the memory of a process that runs. */
export function readMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** Reads the CPU time of all threads of a process, in milliseconds; 0 when it has ended. */
export function readCpu(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + readThread(pid, task), 0)
  } catch {
    // The process has ended.
    return 0
  }
}

function readThread(pid: number, task: string): number {
  try {
    // The first number is the time on a CPU in nanoseconds.
    return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    // The thread has ended.
    return 0
  }
}

/** Milliseconds of a tick of the kernel: USER_HZ is 100 on every Linux that Bun runs on. */
const TICK_MS = 10

/**
 * Reads the CPU time that went to anything but this process and its children, in milliseconds since the start of the
 * machine. What a hypervisor took counts as well. Look at differences: children that ended are no longer subtracted.
 */
export function readCpuOfOthers(): number {
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/).slice(1).map(Number) ?? []
  const own = listFamily(process.pid).reduce((sum, pid) => sum + readCpu(pid), 0)
  return (user + nice + system + steal) * TICK_MS - own
}

/** A process and all of its descendants. */
function listFamily(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      // The name of the command may hold anything but ends at the last parenthesis.
      const rest = readFileSync(`/proc/${name}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ')
      parents.set(Number(name), Number(rest?.[1]))
    } catch {
      // The process has ended.
    }
  }
  const isFamily = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isFamily(parents.get(pid)))
  return [...parents.keys()].filter(isFamily)
}

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
  const read = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** Reads the CPU time of all threads of a process, in milliseconds. */
export function readCpu(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + readThread(pid, task), 0)
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

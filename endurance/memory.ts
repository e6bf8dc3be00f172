/** The memory of a process, from /proc. */

import { readFileSync } from 'node:fs'

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

/** CPU time of a service per request. Unlike a duration, it does not depend on what else runs on the machine. */

import { readFileSync } from 'node:fs'

/** CPU time of a process that makes a measurement precise: the kernel counts in ticks of 10 ms. */
const MEASURED_MS = 150

/** Requests between two looks at the CPU time. */
const ROUND = 10

/** Returns the CPU time of a process, with all its threads, in milliseconds. */
function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name of the program, in brackets; it may have spaces. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** Sends a request again and again, and returns the CPU time that the process uses for each, in milliseconds. */
export async function measureCpuMs(pid: number, send: () => Promise<unknown>): Promise<number> {
  for (let index = 0; index < ROUND; index++) await send()
  const start = readCpuMs(pid)
  let used = 0
  let requests = 0
  while (used < MEASURED_MS) {
    for (let index = 0; index < ROUND; index++) await send()
    requests += ROUND
    used = readCpuMs(pid) - start
  }
  return used / requests
}

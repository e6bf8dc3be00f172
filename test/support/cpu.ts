/** CPU time of a process. Unlike a duration, it does not depend on what else runs on the machine. */

import { readdirSync, readFileSync } from 'node:fs'

/** Does work, and returns the CPU time that a process uses meanwhile, with all its threads, in milliseconds. */
export async function measureCpuMs(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = readThreads(pid)
  await work()
  let used = 0
  for (const [thread, nanoseconds] of readThreads(pid)) used += nanoseconds - (before.get(thread) ?? 0)
  return used / 1e6
}

/** Returns the CPU time of each thread of a process, in nanoseconds: the first field of schedstat (proc_pid_schedstat(5)). */
function readThreads(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  return new Map(readdirSync(folder).map((thread) => [thread, readNanoseconds(`${folder}/${thread}/schedstat`)]))
}

function readNanoseconds(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0])
  } catch {
    // The thread has just ended.
    return 0
  }
}

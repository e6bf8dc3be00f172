/** The memory and the CPU time of processes, from /proc. */

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

export interface Cpu {
  /** Milliseconds on a CPU. */
  readonly used: number
  /** The same with the time for which a thread could run and waited for a CPU: what it would use if it were alone. */
  readonly wanted: number
}

/** Reads the CPU time of the threads of a process that runs; 0 when it has ended. */
export function readCpu(pid: number): Cpu {
  const threads = listThreads(pid).map((task) => readThread(pid, task))
  const used = threads.reduce((sum, [running]) => sum + running, 0)
  return { used, wanted: threads.reduce((sum, [, waiting]) => sum + waiting, used) }
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // The process has ended.
    return []
  }
}

/** Milliseconds for which a thread ran, and for which it waited for a CPU. */
function readThread(pid: number, task: string): [running: number, waiting: number] {
  try {
    // In nanoseconds (https://docs.kernel.org/scheduler/sched-stats.html).
    const text = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8')
    const [running = 0, waiting = 0] = text.split(' ').map(Number)
    return [running / 1e6, waiting / 1e6]
  } catch {
    // The thread has ended.
    return [0, 0]
  }
}

/** Milliseconds of a tick of the kernel: USER_HZ is 100 on every Linux that Bun runs on. */
const TICK_MS = 10

/**
 * Reads the CPU time that went to anything but this process and its descendants, in milliseconds since the start of the
 * machine. What a hypervisor took counts as well. Look at differences.
 */
export function readCpuOfOthers(): number {
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/).slice(1).map(Number) ?? []
  return (user + nice + system + steal - readTicksOfFamily(process.pid)) * TICK_MS
}

/** The CPU time of a process and all of its descendants in ticks, those that have ended included (proc_pid_stat(5)). */
function readTicksOfFamily(root: number): number {
  const processes = new Map<number, { readonly parent: number; readonly ticks: number }>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      // The name of the command may hold anything but ends at the last parenthesis. Field 3 follows it.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? []
      // Fields 14 to 17: its own time, and that of the children for which it has waited.
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + field, 0)
      processes.set(Number(name), { parent: fields[1] ?? 0, ticks })
    } catch {
      // The process has ended.
    }
  }
  const isFamily = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isFamily(processes.get(pid)?.parent))
  return [...processes].reduce((sum, [pid, { ticks }]) => sum + (isFamily(pid) ? ticks : 0), 0)
}

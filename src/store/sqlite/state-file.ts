/**
 * The file next to a list that says which state of the list is the latest one, in one line:
 *
 *   closed INODE CTIME               the list was closed, and this is the ctime of its file in nanoseconds since then
 *   open INODE BOOT PID START        this process has it open; BOOT and START (in ticks) tell the process from others
 *
 * Only the kernel sets a ctime. So a file that was written, copied over or restored since the close has another one,
 * also if it has the inode, the size and the mtime of before, and also if this file was restored with it. An unknown
 * or missing line proves nothing.
 */

import { existsSync, fstatSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createPrivateFile } from '../../private-file.ts'
import type { HeldFile } from './held-file.ts'

export interface StateFile {
  /** Whether the list is as it was when it was last closed. Opening the list changes it, so look before. */
  isAsClosed(): boolean
  /** Whether the process that has saved the latest state still runs. */
  isOpen(): boolean
  /** Saves that this process has the list open. */
  saveOpen(): void
  /** Saves the list as it is. It is closed, and nothing has written to it since. */
  saveClosed(): void
  /** Forgets the latest state. */
  remove(): void
}

const SUFFIX = '-state'

/**
 * Creates the state file of a list. Nothing is written before a `save`.
 *
 * @param held the file of the list
 */
export function createStateFile(path: string, { descriptor }: Pick<HeldFile, 'descriptor'>): StateFile {
  // Next to the real file, like the log.
  const file = realpathSync(path) + SUFFIX

  function toClosedLine(): string {
    const { ino, ctimeNs } = fstatSync(descriptor, { bigint: true })
    return `closed ${ino} ${ctimeNs}\n`
  }

  function toOpenLine(pid: string): string | undefined {
    const start = readStart(pid)
    const { ino } = fstatSync(descriptor, { bigint: true })
    return start === undefined ? undefined : `open ${ino} ${readBoot()} ${pid} ${start}\n`
  }

  return {
    isAsClosed: () => readText(file) === toClosedLine(),
    isOpen() {
      const line = readText(file)
      const pid = /^open .* (\d+) \d+\n$/.exec(line)?.[1]
      return pid !== undefined && line === toOpenLine(pid)
    },
    saveOpen: () => writeText(file, toOpenLine(String(process.pid)) ?? ''),
    saveClosed: () => writeText(file, toClosedLine()),
    remove: () => rmSync(file, { force: true }),
  }
}

/** When a process was started, in ticks since the boot (proc(5), /proc/pid/stat); undefined when it does not run. */
function readStart(pid: string): string | undefined {
  const text = readText(`/proc/${pid}/stat`)
  // The name of the program is in parentheses, and may have blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const hasEnded = fields[0] === 'Z' || fields[0] === 'X'
  return hasEnded ? undefined : fields[19]
}

const readBoot = (): string => readText('/proc/sys/kernel/random/boot_id').trim()

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Without a sync: a line that a power cut loses or damages proves nothing. */
function writeText(file: string, text: string): void {
  try {
    if (!existsSync(file)) createPrivateFile(file)
    writeFileSync(file, text)
  } catch {
    // Without the line, numbers are skipped the next time.
  }
}

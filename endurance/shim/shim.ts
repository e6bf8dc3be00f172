/** Builds the shim, loads it into processes of Rollcall, and controls the faults that it makes. */

import { closeSync, openSync, readdirSync, readSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../rollcall.ts'

const SOURCES = fileURLToPath(new URL('.', import.meta.url))

/** Says in one line what is missing to build the shim. */
export function findMissingCompiler(): string | undefined {
  return Bun.which('cc') ? undefined : 'a C compiler is missing: install cc, such as with apt-get install gcc'
}

/** Builds the shim in a folder. @throws Error with what the compiler says */
export function buildShim(folder: string): string {
  const library = join(folder, 'shim.so')
  const files = readdirSync(SOURCES).filter((name) => name.endsWith('.c'))
  const { success, stderr } = Bun.spawnSync(
    ['cc', '-shared', '-fPIC', '-O2', '-o', library, ...files, '-ldl', '-pthread'],
    {
      cwd: SOURCES,
    },
  )
  if (!success) throw new Error(`the shim does not compile: ${stderr}`)
  return library
}

export interface ShimOptions {
  /** The folder whose files are recorded and disturbed. */
  readonly folder: string
  /** The file that gets the records. */
  readonly log?: string
  readonly faults?: Faults
}

/** The environment of a process that is to load the shim. */
export function toShimEnvironment(library: string, { folder, log, faults }: ShimOptions): Environment {
  return {
    LD_PRELOAD: library,
    ENDURANCE_FOLDER: folder,
    ...(log && { ENDURANCE_LOG: log }),
    ...(faults && { ENDURANCE_CONTROL: faults.file }),
  }
}

/** Numbers of errors on Linux (errno(3)). */
export const ERRNO = { EIO: 5, ENOSPC: 28 } as const

/** Where each fault is in the control file: `struct control` in shim.h. */
const FIELDS = { writeErrno: 0, syncErrno: 4, readErrno: 8, syncDelayMs: 12, clockOffsetMs: 16 } as const
const HITS = 24
const SIZE = 4096

export type FaultName = keyof typeof FIELDS

export interface Faults {
  readonly file: string
  /** Sets a fault in every process that has the control file open; 0 ends it. */
  set(fault: FaultName, value: number): void
  /** How many operations have been failed or delayed, and how often a changed time was given. */
  hits(): number
}

/** Creates a control file without faults. */
export function createFaults(file: string): Faults {
  writeFileSync(file, '')
  truncateSync(file, SIZE)
  const descriptor = openSync(file, 'r+')
  process.once('exit', () => closeSync(descriptor))
  return {
    file,
    set(fault, value) {
      const isLong = fault === 'clockOffsetMs'
      const bytes = Buffer.alloc(isLong ? 8 : 4)
      if (isLong) bytes.writeBigInt64LE(BigInt(value))
      else bytes.writeInt32LE(value)
      writeSync(descriptor, bytes, 0, bytes.length, FIELDS[fault])
    },
    hits() {
      const bytes = Buffer.alloc(8)
      readSync(descriptor, bytes, 0, bytes.length, HITS)
      return Number(bytes.readBigUInt64LE())
    },
  }
}

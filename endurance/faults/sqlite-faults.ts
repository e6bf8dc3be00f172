/** Faults of a disk, of the list's file, of the clock and of the writer thread. */

import { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ERRNO, type FaultName } from '../shim/shim.ts'
import type { Fault, Scene } from './fault.ts'

const CRASHING_WRITER = fileURLToPath(new URL('../../test/support/crashing-writer.ts', import.meta.url))

const DAY_MS = 86_400_000

/** Suffixes of the files that SQLite keeps for a list. */
const PARTS = ['', '-wal', '-shm']

/** The list is no longer where it was. */
const LOST = { lasts: 4_000, responses: 'lost', reason: /lost|deleted|moved|another file/, isFinal: true } as const

export const SQLITE_FAULTS: readonly Fault[] = [
  { ...fromShim('EIO on every write', 'writeErrno', ERRNO.EIO, '500', 3_000), reason: /disk reports an error/ },
  { ...fromShim('EIO on every fsync', 'syncErrno', ERRNO.EIO, '500', 3_000), reason: /disk reports an error/ },
  { ...fromShim('EIO on every read', 'readErrno', ERRNO.EIO, 'either', 3_000), cause: failReads },
  { ...fromShim('ENOSPC on every write', 'writeErrno', ERRNO.ENOSPC, '500', 3_000), reason: /disk is full/ },
  fromShim('ENOSPC on every fsync', 'syncErrno', ERRNO.ENOSPC, '500', 3_000),
  fromShim('a slow disk: each fsync takes 0.3 s', 'syncDelayMs', 300, '200', 4_000),
  fromShim('a disk that hangs: an fsync takes 8 s', 'syncDelayMs', 8_000, '500', 8_000),
  fromShim('the clock is set back by a day', 'clockOffsetMs', -DAY_MS, '200', 3_000),
  fromShim('the clock is set forward by a day', 'clockOffsetMs', DAY_MS, '200', 3_000),
  {
    name: 'another process holds the lock',
    lasts: 8_000,
    responses: '500',
    reason: /lock|deadline|confirm/,
    cause: holdLock,
  },
  {
    name: 'the writer thread crashes again and again',
    lasts: 3_000,
    responses: 'either',
    env: { BUN_OPTIONS: `--preload ${CRASHING_WRITER}` },
    cause: crashWriter,
  },
  { name: 'the folder of the list is moved away, and back', ...LOST, isFinal: false, cause: moveFolder },
  { name: 'another list is moved over the file', ...LOST, cause: replaceFile },
  { name: 'the files of the list are deleted', ...LOST, cause: deleteFiles },
  { name: 'the log of the list is deleted', ...LOST, cause: deleteLog },
  { name: 'the folder of the list is deleted', ...LOST, cause: deleteFolder },
]

function fromShim(name: string, fault: FaultName, value: number, responses: Fault['responses'], lasts: number): Fault {
  return {
    name,
    lasts,
    responses,
    isFromShim: true,
    async cause({ shim }) {
      shim.set(fault, value)
      return () => shim.set(fault, 0)
    },
  }
}

/** SQLite reads from its cache until another process writes, so another process has to. */
async function failReads({ shim, list }: Scene) {
  shim.set('readErrno', ERRNO.EIO)
  const db = new Database(list.file)
  const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  const timer = setInterval(() => {
    // The lock may be taken; there is another time.
    attempt(() => db.run(`PRAGMA user_version = ${version}`))
  }, 50)
  return () => {
    shim.set('readErrno', 0)
    clearInterval(timer)
    db.close()
  }
}

function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}

async function holdLock({ list }: Scene) {
  const db = new Database(list.file)
  db.run('PRAGMA busy_timeout = 5000')
  db.run('BEGIN IMMEDIATE')
  return () => {
    db.run('COMMIT')
    db.close()
  }
}

async function crashWriter({ service }: Scene) {
  const crash = () => service.process.kill('SIGUSR2')
  crash()
  const timer = setInterval(crash, 700)
  return () => clearInterval(timer)
}

async function moveFolder({ dataFolder }: Scene) {
  renameSync(dataFolder, `${dataFolder}-away`)
  return () => renameSync(`${dataFolder}-away`, dataFolder)
}

async function replaceFile({ list }: Scene) {
  const other = `${list.file}-other`
  {
    using db = new Database(other, { create: true })
    db.run('CREATE TABLE other (name TEXT)')
  }
  renameSync(other, list.file)
  return () => {}
}

async function deleteFiles({ list }: Scene) {
  for (const part of PARTS) rmSync(list.file + part, { force: true })
  return () => {}
}

async function deleteLog({ list }: Scene) {
  rmSync(`${list.file}-wal`)
  return () => {}
}

async function deleteFolder({ dataFolder }: Scene) {
  rmSync(dataFolder, { recursive: true })
  return () => {}
}

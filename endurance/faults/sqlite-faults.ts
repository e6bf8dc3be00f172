/** Faults of a disk, of the list's file and of its lock. */

import { Database } from 'bun:sqlite'
import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { check } from '../check.ts'
import { inject } from '../strace.ts'
import type { Fault, Scene } from './fault.ts'

const WRITES = 'pwrite64,write'
const SYNCS = 'fsync,fdatasync'

export const SQLITE_FAULTS: readonly Fault[] = [
  { ...fromDisk('EIO on every write', WRITES, 'error=EIO', '500'), reason: /disk/ },
  { ...fromDisk('EIO on every fsync', SYNCS, 'error=EIO', '500'), reason: /disk/ },
  { ...fromDisk('EIO on every read', 'pread64', 'error=EIO', 'either'), cause: failReads },
  { ...fromDisk('ENOSPC on every write', WRITES, 'error=ENOSPC', '500'), reason: /full/ },
  { ...fromDisk('a slow disk: each fsync takes 0.3 s', SYNCS, 'delay_enter=300000', '200'), lasts: 4_000 },
  { ...fromDisk('a disk that hangs: an fsync takes 8 s', SYNCS, 'delay_enter=8000000', '500'), lasts: 10_000 },
  {
    name: 'another process holds the lock',
    lasts: 8_000,
    responses: '500',
    reason: /lock|deadline|confirm/,
    cause: holdLock,
  },
  {
    // What the service does when they never come back is in test/service/lost-file.test.ts.
    name: 'the folder of the list is moved away, and back',
    lasts: 4_000,
    responses: '500',
    reason: /lost|moved/,
    cause: moveFolder,
  },
]

function fromDisk(name: string, calls: string, effect: string, responses: Fault['responses']): Fault {
  return { name, lasts: 3_000, responses, cause: (scene) => breakDisk(scene, calls, effect) }
}

async function breakDisk({ service, list, scratch }: Scene, calls: string, effect: string) {
  const paths = [list.file, `${list.file}-wal`]
  const end = await inject(service.process.pid, { calls, effect, paths }, scratch)
  return async () => {
    const hits = await end()
    check(hits > 0, () => 'the fault was never met: the trial itself does not work')
  }
}

/** SQLite reads from its cache until another process writes, so another process has to. */
async function failReads(scene: Scene) {
  const end = await breakDisk(scene, 'pread64', 'error=EIO')
  const db = new Database(scene.list.file)
  const version = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  const timer = setInterval(() => {
    try {
      db.run(`PRAGMA user_version = ${version}`)
    } catch {
      // The lock may be taken; there is another time.
    }
  }, 50)
  return async () => {
    clearInterval(timer)
    db.close()
    await end()
  }
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

async function moveFolder({ list }: Scene) {
  const folder = dirname(list.file)
  renameSync(folder, `${folder}-away`)
  return () => {
    // The service may have put what it saved where the folder was.
    if (existsSync(folder)) renameSync(folder, `${folder}-saved`)
    renameSync(`${folder}-away`, folder)
  }
}

/** Backups of a SQLite list under load, each over the last one. */

import { join } from 'node:path'
import { connect, toSubscribeRequest } from '../connection.ts'
import { toList } from '../rollcall.ts'
import { readRows } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import type { World } from './world.ts'

/** The longest list that is read back from a backup. */
const LONGEST = 150_000

/** Returns a function that backs the list up, and checks that the copy has what was confirmed before it began. */
export function createBackups(world: World, ledger: Ledger): () => Promise<void> {
  const file = join(world.folder, 'backup.db')
  const backup = toList(`sqlite:${file}`, world.folder)

  /** Leaves a -wal and a -shm file next to the backup, as a killed service does. The next backup must not use them. */
  async function useAndKill(): Promise<void> {
    const service = await backup.serve()
    const connection = await connect(service.port)
    await connection.request(toSubscribeRequest('stranger@example.org'))
    await service.stop('SIGKILL')
  }

  return async () => {
    const start = performance.now()
    const output = await world.run(['backup', file])
    const end = performance.now()
    if (output === undefined || ledger.entries.size > LONGEST) return
    ledger.checkSnapshot('a backup', await readRows(backup), start, end)
    await useAndKill()
  }
}

/** Every 200 follows a sync that covers its address. The shim records writes, syncs and responses in one order. */

import { join } from 'node:path'
import { connect, toSubscribeRequest } from '../connection.ts'
import { startService } from '../rollcall.ts'
import { readRecording } from '../shim/recording.ts'
import { buildShim, findMissingCompiler, toShimEnvironment } from '../shim/shim.ts'
import { check, type Trial, toSample } from '../trial.ts'

/** Callers at once, so that commits carry one address and several. */
const CALLERS = 8

export const fsync: Trial = {
  name: 'fsync',
  promise: 'each of 1,000 responses with 200 follows an fsync that covers its address',
  stores: ['sqlite'],
  minutes: 1,
  findMissing: findMissingCompiler,
  async run({ folder, createList, amount, progress }) {
    const requests = amount(1000, 100)
    const log = join(folder, 'operations.log')
    const env = toShimEnvironment(buildShim(folder), { folder, log })
    const service = await startService(await createList(), { folder, env })
    const asked = await subscribe(service.port, requests)
    await service.stop()
    progress(`${requests} requests are answered`)
    const { covered, early, syncs } = findCovered(log, asked)
    check(
      early.length === 0,
      () => `${early.length} responses were sent before an fsync covered them: ${toSample(early)}`,
    )
    check(covered === requests, () => `the log shows ${covered} responses of ${requests}`)
    return { 'responses that an fsync covers': covered, 'fsyncs in the run': syncs }
  },
}

/** Subscribes addresses. Returns those of each connection by its port, in the order in which they were sent. */
async function subscribe(port: number, requests: number): Promise<ReadonlyMap<number, readonly string[]>> {
  const asked = new Map<number, string[]>()
  let next = 0

  async function call(): Promise<void> {
    const connection = await connect(port)
    const emails: string[] = []
    asked.set(connection.localPort, emails)
    while (next < requests) {
      const email = `fsync-${String(next++).padStart(6, '0')}@example.org`
      emails.push(email)
      const reply = await connection.request(toSubscribeRequest(email))
      check(reply?.status === 200, () => `an address was answered ${reply?.status}, without any fault`)
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: CALLERS }, call))
  return asked
}

interface Written {
  readonly inode: number
  isSynced: boolean
}

/** Goes through the log: finds which responses were sent after a sync that began after the write of the address. */
function findCovered(log: string, asked: ReadonlyMap<number, readonly string[]>) {
  const written = new Map<string, Written>()
  let unsynced: Written[] = []
  const running = new Map<bigint, readonly Written[]>()
  const answered = new Map<number, number>()
  const early: string[] = []
  let covered = 0
  let syncs = 0
  for (const record of readRecording(log)) {
    if (record.kind === 'write') {
      for (const [email] of record.data.toString('latin1').matchAll(/fsync-\d{6}@example\.org/g)) {
        if (written.has(email)) continue
        const entry = { inode: record.inode, isSynced: false }
        written.set(email, entry)
        unsynced.push(entry)
      }
    } else if (record.kind === 'syncBegin') {
      running.set(
        record.id,
        unsynced.filter(({ inode }) => inode === record.inode),
      )
    } else if (record.kind === 'syncEnd' && record.isDone) {
      syncs++
      for (const entry of running.get(record.id) ?? []) entry.isSynced = true
      unsynced = unsynced.filter(({ isSynced }) => !isSynced)
    } else if (record.kind === 'send' && record.start.startsWith('HTTP/1.1 200')) {
      const index = answered.get(record.port) ?? 0
      answered.set(record.port, index + 1)
      const email = asked.get(record.port)?.[index]
      if (email === undefined) continue
      if (written.get(email)?.isSynced) covered++
      else early.push(email)
    }
  }
  return { covered, early, syncs }
}

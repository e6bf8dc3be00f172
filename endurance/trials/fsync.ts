/** Every 200 follows a sync that covers its address. The shim records writes, syncs and responses in one order. */

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, toSample } from '../check.ts'
import { connect, toSubscribeRequest } from '../connection.ts'
import type { Environment } from '../rollcall.ts'
import { findCovered } from '../shim/coverage.ts'
import { readRecording } from '../shim/recording.ts'
import { buildShim, findMissingCompiler, toShimEnvironment } from '../shim/shim.ts'
import type { Trial, TrialContext } from '../trial.ts'

/** Callers at once, so that commits carry one address and several. */
const CALLERS = 8

/** A name that an address has twice: the border of a page, with its header, may cut one of the two. */
const NAME = /fsync-\d{6}/g

export const fsync: Trial = {
  name: 'fsync',
  promise: 'each of 1,000 responses with 200 follows an fsync that covers its address',
  minutes: { sqlite: 0.1, postgres: 0.1 },
  findMissing: findMissingCompiler,
  async run(context) {
    const { folder, createList, amount } = context
    const requests = amount(1000, 100)
    const log = join(folder, 'operations.log')
    const list = await createList()
    const { env, end } = await prepare(context, log)
    const service = await list.serve({ env })
    const asked = await subscribe(service.port, requests)
    await service.stop()
    await end()
    const { covered, early, syncs } = findCovered(readRecording(log), asked, NAME)
    const text = `${early.length} responses were sent before an fsync covered them: ${toSample(early)}`
    check(early.length === 0, () => text)
    check(covered === requests, () => `the log shows ${covered} responses of ${requests}`)
    return { figures: { 'responses that an fsync covers': covered, 'fsyncs in the run': syncs } }
  },
}

/** Records the process that writes and syncs: the service, or the PostgreSQL server with the service. */
async function prepare(
  { store, folder }: TrialContext,
  log: string,
): Promise<{ readonly env: Environment; readonly end: () => Promise<void> }> {
  const library = buildShim(folder)
  const env = toShimEnvironment(library, { folder, log })
  if (store === 'sqlite') return { env, end: async () => {} }
  const [{ getServer }, { restartServer }] = await Promise.all([
    import('../../test/support/postgres.ts'),
    import('../postgres.ts'),
  ])
  // The server may run as another user.
  chmodSync(folder, 0o755)
  writeFileSync(log, '')
  chmodSync(log, 0o666)
  const { data } = await getServer()
  await restartServer(toShimEnvironment(library, { folder: join(data, 'pg_wal'), log }))
  return { env, end: restartServer }
}

/** Subscribes addresses. Returns the names of each connection by its port, in the order in which they were sent. */
async function subscribe(port: number, requests: number): Promise<ReadonlyMap<number, readonly string[]>> {
  const asked = new Map<number, string[]>()
  let next = 0

  async function call(): Promise<void> {
    const connection = await connect(port)
    const names: string[] = []
    asked.set(connection.localPort, names)
    while (next < requests) {
      const name = `fsync-${String(next++).padStart(6, '0')}`
      names.push(name)
      const reply = await connection.request(toSubscribeRequest(`${name}.${name}@example.org`))
      check(reply?.status === 200, () => `an address was answered ${reply?.status}, without any fault`)
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: CALLERS }, call))
  return asked
}

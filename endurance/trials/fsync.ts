/** Every 200 follows a sync that covers its address, by the recorded system calls of those who write and respond. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getServer } from '../../test/support/postgres.ts'
import { check, toSample } from '../check.ts'
import { startLoad } from '../load.ts'
import { type Call, readRecordings, recordProcess, toRecorder, waitForRecording } from '../strace.ts'
import type { Trial } from '../trial.ts'

/** Callers at once, so that commits carry one address and several. */
const CALLERS = 8

/** A name that an address has twice: the border of a page, with its header, may cut one of the two. */
const NAME = /fsync-\d{6}/g

export const fsync: Trial = {
  name: 'fsync',
  promise: 'each of 1,000 responses with 200 follows an fsync that covers its address',
  minutes: { sqlite: 0.1, postgres: 0.2 },
  needs: ['strace'],
  async run({ store, folder, createList, amount }) {
    const requests = amount(1000, 100)
    const logs = [join(folder, 'service'), join(folder, 'server')]
    const list = await createList()
    const end = store === 'sqlite' ? undefined : await recordServer(logs[1] ?? '')
    const service = await list.serve({ by: toRecorder(logs[0] ?? '') })
    const sent: string[] = []
    const load = startLoad(() => service.port, {
      callers: CALLERS,
      next() {
        if (sent.length === requests) return undefined
        const name = `fsync-${String(sent.length).padStart(6, '0')}`
        sent.push(name)
        return { email: `${name}.${name}@example.org` }
      },
    })
    await load.ended
    await service.stop()
    await waitForRecording(logs[0] ?? '', service.process.pid)
    await end?.()
    const calls = readRecordings(end ? logs : logs.slice(0, 1))
    const { covered, early } = findCovered(calls)
    const text = `${early.length} responses were sent before an fsync covered them: ${toSample(early)}`
    check(early.length === 0, () => text)
    check(covered === requests, () => `the recording shows ${covered} responses of ${requests}`)
    const syncs = calls.filter(({ kind }) => kind === 'sync').length
    return { 'responses that an fsync covers': covered, 'fsyncs in the run': syncs }
  },
}

/** Records the PostgreSQL server, which starts a process for each connection. */
async function recordServer(log: string): Promise<() => Promise<void>> {
  const { data } = await getServer()
  const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  return await recordProcess(Number(pid), log)
}

/**
 * Finds which responses were sent after a sync that began after the first write of their address. A connection has one
 * request at a time, so a response is for the last address that the socket received.
 */
export function findCovered(calls: readonly Call[]): { readonly covered: number; readonly early: readonly string[] } {
  const written = new Map<string, { readonly path: string; readonly end: number }>()
  const syncs = new Map<string, Call[]>()
  const asked = new Map<string, string>()
  const early: string[] = []
  let covered = 0
  for (const call of calls) {
    if (call.kind === 'write') {
      for (const [name] of call.data.toString('latin1').matchAll(NAME)) if (!written.has(name)) written.set(name, call)
    } else if (call.kind === 'sync') syncs.set(call.path, [...(syncs.get(call.path) ?? []), call])
    else if (call.kind === 'receive') {
      const name = call.data.toString('latin1').match(NAME)?.[0]
      if (name) asked.set(call.path, name)
    } else if (call.kind === 'send' && call.data.toString('latin1').startsWith('HTTP/1.1 200')) {
      const name = asked.get(call.path)
      if (name === undefined) continue
      asked.delete(call.path)
      const place = written.get(name)
      const isCovered = syncs
        .get(place?.path ?? '')
        ?.some(({ begin, end }) => place !== undefined && begin >= place.end && end <= call.begin)
      if (isCovered) covered++
      else early.push(name)
    }
  }
  return { covered, early }
}

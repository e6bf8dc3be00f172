/** Commands that read finish in a time that depends on the inbox and the list, not on the load. */

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { getServer } from '../../test/support/postgres.ts'
import { check } from '../check.ts'
import { startClient } from '../clients/client.ts'
import type { PumpOptions, PumpWindow } from '../clients/pump.ts'
import type { List } from '../rollcall.ts'
import type { Trial, TrialContext } from '../trial.ts'

/**
 * Under full load, a command may take so many seconds, and so many times what it takes without load. It shares two
 * cores with the callers and the two threads of the service, and the lock with one of them.
 */
const MOST_S = 3
const MOST_FACTOR = 5

/** A command that takes longer is killed. */
const PATIENCE_S = 120

/** Seconds of load before the first command. */
const LOAD_S = 20

/** A command begins when the inbox has so many addresses. A service that moves them sooner has so many seconds. */
const INBOX = 50_000
const FILL_S = 5

interface Reading {
  readonly verb: string
  /** Addresses in the inbox when the command began. */
  readonly inbox: number
  readonly seconds: number
}

export const readers: Trial = {
  name: 'readers',
  promise: 'count, status, export and backup under full load take a time that depends on the inbox, not on the load',
  minutes: { sqlite: 1.2, postgres: 0.6 },
  async run(context) {
    const { createList, scale, progress } = context
    const list = await createList()
    const service = await list.serve()
    const load = startPump(service.port)
    await Bun.sleep(Math.max(LOAD_S * scale, 3) * 1000)
    const readings: Reading[] = []
    for (let round = 0; round < 2; round++) {
      for (const args of toVerbs(context)) {
        await fillInbox(list)
        const reading = await read(list, args)
        readings.push(reading)
        progress(`${reading.verb}: ${reading.seconds.toFixed(1)} s with ${reading.inbox} addresses in the inbox`)
      }
    }
    await fillInbox(list)
    const { requests, seconds, failed } = await load.stop()
    await service.stop('SIGKILL')
    check(failed === 0, () => `${failed} requests are not answered 200 meanwhile`)

    const allow = await measureAlone(list, toVerbs(context))
    for (const reading of readings) {
      const text = `${reading.verb} takes ${reading.seconds.toFixed(1)} s with ${reading.inbox} addresses in the inbox`
      check(reading.seconds <= allow(reading), () => `${text}, and may take ${allow(reading).toFixed(1)} s`)
    }
    const worst = Math.max(...readings.map((reading) => reading.seconds / allow(reading)))
    return {
      figures: {
        'requests a second meanwhile': requests / seconds,
        'commands under load': readings.length,
        'slowest, s': Math.max(...readings.map((reading) => reading.seconds)),
        'largest inbox': Math.max(...readings.map(({ inbox }) => inbox)),
        'most of the allowed time, %': Math.round(worst * 100),
      },
      details: Object.fromEntries(
        readings.map((reading, index) => [
          `${index + 1}. ${reading.verb}`,
          `${reading.seconds.toFixed(1)} s of ${allow(reading).toFixed(1)} s, ${reading.inbox.toLocaleString('en')} addresses in the inbox`,
        ]),
      ),
    }
  },
}

function toVerbs({ store, folder }: TrialContext): string[][] {
  const backup = store === 'sqlite' ? [['backup', join(folder, 'backup.db')]] : []
  return [['count'], ['status'], ['export', '--include-reserved', '--out', join(folder, 'export.csv')], ...backup]
}

async function read(list: List, args: readonly string[]): Promise<Reading> {
  const [verb = ''] = args
  const inbox = await readInbox(list)
  const start = performance.now()
  const { process, ended } = list.start(args)
  const timer = setTimeout(() => process.kill('SIGKILL'), PATIENCE_S * 1000)
  const { code, stderr } = await ended
  clearTimeout(timer)
  check(process.signalCode === null, () => `${verb} does not finish within ${PATIENCE_S} s of full load`)
  check(code === 0, () => `${verb} fails under full load: ${stderr.trim()}`)
  return { verb, inbox, seconds: (performance.now() - start) / 1000 }
}

/** Measures without load what the commands take, and an address of the inbox. Returns how long a command may take. */
async function measureAlone(list: List, verbs: readonly (readonly string[])[]): Promise<(reading: Reading) => number> {
  const withInbox = await read(list, ['count'])
  const times = new Map<string, number>()
  for (const args of verbs) times.set(args[0] ?? '', (await read(list, args)).seconds)
  const perAddress = Math.max(withInbox.seconds - (times.get('count') ?? 0), 0) / Math.max(withInbox.inbox, 1)
  return ({ verb, inbox }) => MOST_S + MOST_FACTOR * ((times.get(verb) ?? 0) + inbox * perAddress)
}

async function fillInbox(list: List): Promise<void> {
  const end = performance.now() + FILL_S * 1000
  while ((await readInbox(list)) < INBOX && performance.now() < end) await Bun.sleep(100)
}

/** The number of addresses in the inbox of a list, repeats included. */
async function readInbox(list: List): Promise<number> {
  if (!list.file) {
    const server = await getServer()
    const [row] = await server.run<{ size: number }>('SELECT sum(size)::float8 AS size FROM rollcall.inbox', list.url)
    return row?.size ?? 0
  }
  using db = new Database(list.file)
  db.run('PRAGMA busy_timeout = 5000')
  const query = `SELECT first_seq + json_array_length(addresses) - (SELECT min(first_seq) FROM inbox) AS size
    FROM inbox ORDER BY first_seq DESC LIMIT 1`
  return db.query<{ size: number }, []>(query).get()?.size ?? 0
}

/** Starts the load. Every request has a new address. */
function startPump(port: number) {
  const options: PumpOptions = { port, connections: 64, seconds: 3_600, windowSeconds: 1, newShare: 1 }
  const client = startClient('pump', options)
  const start = performance.now()
  let requests = 0
  let failed = 0
  const reading = (async () => {
    for await (const line of client.lines) {
      const window = line as PumpWindow
      requests += window.requests
      failed = window.failed
    }
  })()
  return {
    async stop() {
      const seconds = (performance.now() - start) / 1000
      client.stop()
      await reading
      return { requests, failed, seconds }
    },
  }
}

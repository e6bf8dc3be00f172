/** A flood of known addresses leaves the tables of a PostgreSQL list as large as they were. */

import { getServer } from '../../test/support/postgres.ts'
import { check, waitFor } from '../check.ts'
import { startClient } from '../clients/client.ts'
import type { PumpOptions, PumpWindow } from '../clients/pump.ts'
import type { List } from '../rollcall.ts'
import type { Trial } from '../trial.ts'

/** Addresses on the list, and requests of the flood at its default length. */
const ADDRESSES = 5_000_000

const MIB = 2 ** 20

/** Autovacuum comes once a minute. Until then the rows that compaction deleted take room. */
const MOST_INBOX = 512 * MIB
const VACUUMED_MS = 240_000

/** Growth of a table that is none: its map of free space, and pages that were filled in between. */
const SLACK = { share: 0.02, bytes: 8 * MIB } as const

/** Sizes of tables in bytes, with their indexes. */
type Sizes = Readonly<Record<string, number>>

export const bloat: Trial = {
  name: 'bloat',
  promise:
    'after a flood of 5 million known addresses no table is larger than before; autovacuum keeps the inbox small',
  minutes: { postgres: 8 },
  async run({ amount, createList, progress }) {
    const addresses = amount(ADDRESSES, 10_000)
    const list = await createList()
    const service = await list.serve()
    await waitFor('the service is ready', async () => (await service.opsStatus('/readyz')) === 200, 30_000)
    await fill(list, addresses)
    const before = await readSizes(list)
    const options = { port: service.port, connections: 256, seconds: 3_600, windowSeconds: 5, newShare: 0 }
    const client = startClient('pump', { ...options, known: addresses } satisfies PumpOptions)
    const start = performance.now()
    let [requests, largest] = [0, 0]
    for await (const line of client.lines) {
      const window = line as PumpWindow
      check(window.failed === 0, () => `${window.failed} requests are not answered 200`)
      requests += window.requests
      largest = Math.max(largest, (await readSizes(list)).inbox ?? 0)
      progress(`${requests.toLocaleString('en')} requests, the inbox has had up to ${toMib(largest)} MiB`)
      if (requests >= addresses) break
    }
    const seconds = (performance.now() - start) / 1000
    client.stop()
    await client.ended
    check(largest <= MOST_INBOX, () => `the inbox has grown to ${toMib(largest)} MiB`)
    const count = Number(await list.run(['count']))
    check(count === addresses, () => `count says ${count}, and the list has ${addresses}`)
    await waitFor(
      'no table is larger than before',
      async () => findGrown(before, await readSizes(list)) === undefined,
      VACUUMED_MS,
    )
    const after = await readSizes(list)
    await service.stop()
    return {
      figures: {
        'addresses on the list': addresses,
        'known addresses that were sent': requests,
        'a second': requests / seconds,
        'largest inbox meanwhile, MiB': toMib(largest),
      },
      details: Object.fromEntries(
        Object.entries(before).map(([table, size]) => [
          `${table}: before and after, MiB`,
          `${toMib(size)}, ${toMib(after[table] ?? 0)}`,
        ]),
      ),
    }
  },
}

/** Puts the first addresses of the pump on the list. */
async function fill(list: List, addresses: number): Promise<void> {
  const server = await getServer()
  await server.run(
    `INSERT INTO rollcall.subscribers (seq, identity, email, subscribed_at)
     SELECT n, email, email, now() FROM (
       SELECT n, 'soak' || lpad((n - 1)::text, 10, '0') || '@host.example' AS email
       FROM generate_series(1::bigint, ${addresses}) AS n) AS given;
     UPDATE rollcall.list SET next_seq = ${addresses} + 1, visible_seq = ${addresses},
                              subscribers = ${addresses}, reserved = ${addresses}`,
    list.url,
  )
  await server.run('VACUUM (ANALYZE)', list.url)
}

async function readSizes(list: List): Promise<Sizes> {
  const server = await getServer()
  const rows = await server.run<{ name: string; bytes: number }>(
    `SELECT tablename AS name, pg_total_relation_size(('rollcall.' || tablename)::regclass)::float8 AS bytes
     FROM pg_tables WHERE schemaname = 'rollcall' ORDER BY tablename`,
    list.url,
  )
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]))
}

function findGrown(before: Sizes, after: Sizes): string | undefined {
  return Object.keys(before).find(
    (table) => (after[table] ?? 0) > (before[table] ?? 0) * (1 + SLACK.share) + SLACK.bytes,
  )
}

function toMib(bytes: number): number {
  return Math.round((bytes / MIB) * 10) / 10
}

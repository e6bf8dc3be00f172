/**
 * Which request is slow, counted from a request for somebody else's address. A stranger who is alone with a quiet service counts his
 * own requests until one is slow. If work that some request has to wait for depends on what compaction wrote, the count tells
 * whether the address was on the list.
 *
 * On a list in a file, a request is slow that waits for more syncs than usual: they are counted, so nothing else on the machine
 * disturbs the count. On PostgreSQL, it is one that takes several times as long as usual.
 */

import { join } from 'node:path'
import type { RawConnection } from '../test/support/raw.ts'
import { check } from './check.ts'
import { request } from './load.ts'
import type { List, Service } from './rollcall.ts'
import { median } from './statistics.ts'
import { inject } from './strace.ts'

/** Requests after which he gives up: the log of a list had 1,000 pages by then, from which on SQLite moves it unless told otherwise. */
const MOST = 1_300

/** What is usual is the median of so many requests. */
const LAST = 50

/** How many times as long as usual a slow request takes. */
const SLOW_TIME = 5

/** Says how long a request took, in a unit of its own, and what is slow. */
export interface Meter {
  /** @param time of the last request, in milliseconds */
  measure(time: number): number | Promise<number>
  readonly slow: number
  end(): Promise<unknown>
}

/** Creates the meter of a service. @param folder where it may write */
export async function createMeter(service: Service, list: List, folder: string): Promise<Meter> {
  if (list.file === '') return { measure: (time) => time, slow: SLOW_TIME, end: async () => {} }
  const log = join(folder, 'syncs')
  const paths = [list.file, `${list.file}-wal`]
  // The recording has one line for each sync, before the process goes on. The delay is a microsecond.
  const end = await inject(service.process.pid, { calls: 'fsync,fdatasync', effect: 'delay_enter=1', paths }, log)
  let read = 0
  return {
    async measure() {
      const text = await Bun.file(log).slice(read).text()
      read += text.length
      return text.match(/\(DELAYED\)/g)?.length ?? 0
    },
    // One sync is usual, and one of two is more.
    slow: 1.5,
    end,
  }
}

/** Sends requests until one is slow. @returns how many; MOST when none was */
export async function countUntilSlow(own: RawConnection, { measure, slow }: Meter): Promise<number> {
  // What compaction did meanwhile.
  await measure(0)
  const costs: number[] = []
  while (costs.length < MOST) {
    const start = performance.now()
    const reply = await request(own, 'own@example.org')
    const cost = await measure(performance.now() - start)
    check(reply?.status === 200, () => 'an address got no 200')
    if (costs.length >= LAST && cost > slow * median(costs.slice(-LAST))) break
    costs.push(cost)
  }
  return costs.length
}

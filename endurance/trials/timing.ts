/** New and known addresses take the same time, as far as 40,000 measurements can tell. */

import { join } from 'node:path'
import { openConnection } from '../../test/support/raw.ts'
import { check } from '../check.ts'
import { request } from '../load.ts'
import { compareSamples, median } from '../statistics.ts'
import type { Trial } from '../trial.ts'

/** The bound of the promise, and how many standard errors a shorter run is given: one honest run in 1,000 exceeds them. */
const BOUND = 0.01
const ERRORS = 3.29

/** Requests before the measurement, in which code is compiled. */
const WARM_UP = 2_000

export const timing: Trial = {
  name: 'timing',
  promise: 'response times of new and of known addresses, 20,000 each, interleaved: AUC between 0.49 and 0.51',
  minutes: { sqlite: 0.5, postgres: 0.5 },
  async run({ folder, random, createList, amount, progress }) {
    const count = amount(20_000, 2_000)
    const list = await createList()
    // All have the same length, and nothing but the list tells the two kinds apart.
    const toEmail = () => `${crypto.randomUUID()}@example.org`
    const known = Array.from({ length: count }, toEmail)
    const file = join(folder, 'known.txt')
    await Bun.write(file, `${known.join('\n')}\n`)
    await list.run(['import', file])
    const service = await list.serve()
    const connection = await openConnection(service.port)

    async function measure(email: string): Promise<number> {
      const start = performance.now()
      const reply = await request(connection, email)
      const time = performance.now() - start
      check(reply?.status === 200, () => `an address was answered ${reply?.status}, without any fault`)
      return time
    }

    for (let sent = 0; sent < WARM_UP; sent++) await measure(toEmail())
    const times = { new: [] as number[], known: [] as number[] }
    for (const [index, email] of known.entries()) {
      const pair = [
        { kind: 'new', address: toEmail() },
        { kind: 'known', address: email },
      ] as const
      // In random order, so that a request cannot change the time of the next one for one kind more often.
      for (const { kind, address } of random.chance(0.5) ? pair : pair.toReversed()) {
        times[kind].push(await measure(address))
      }
      if (index % 5_000 === 4_999) progress(`${index + 1} of ${count}`)
    }
    await service.stop()

    const { auc, error } = compareSamples(times.known, times.new)
    const [low, high] = [auc - 1.96 * error, auc + 1.96 * error].map((value) => value.toFixed(3))
    const bound = Math.max(BOUND, ERRORS * error)
    const medians = `median ${median(times.new).toFixed(3)} ms for new addresses, ${median(times.known).toFixed(3)} for known`
    const text = `the AUC is ${auc.toFixed(4)} (95 %: ${low} to ${high}), more than ${bound.toFixed(4)} from 0.5; ${medians}`
    check(Math.abs(auc - 0.5) <= bound, () => text)
    return {
      'addresses of each kind': count,
      AUC: auc.toFixed(4),
      '95 % confidence': `${low} to ${high}`,
      'median of new, ms': median(times.new),
      'median of known, ms': median(times.known),
    }
  },
}

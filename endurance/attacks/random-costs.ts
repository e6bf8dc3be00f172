/** Random requests that may cost the service far more CPU than their sender: the search of `npm test`, with more of them. */

import fc from 'fast-check'
import { hostileRequests, toPlainPost } from '../../test/support/hostile-requests.ts'
import { openCostMeter } from '../../test/support/request-cost.ts'
import { check } from '../check.ts'
import { ENDPOINT } from '../rollcall.ts'
import type { Attack } from './attack.ts'

/** A request costs at most this many times the CPU of a valid request of its size. */
const MOST_RATIO = 10

export const randomCosts: Attack = {
  name: 'random costly requests',
  async run({ createList, amount, random }) {
    const service = await (await createList()).serve()
    const meter = await openCostMeter(service, toPlainPost(ENDPOINT))
    const requests = fc.sample(hostileRequests(), { numRuns: amount(5_000, 100), seed: random.below(2 ** 31) })
    let worst = { name: '', ratio: 0 }
    for (const request of requests) {
      const estimate = await meter.estimate(request)
      const ratio = estimate > MOST_RATIO / 2 ? await meter.measure(request) : estimate
      check(ratio <= MOST_RATIO, () => `${request.name}: ${ratio.toFixed(0)} times a plain request`)
      if (ratio > worst.ratio) worst = { name: request.name, ratio }
    }
    meter.close()
    await service.stop()
    return {
      'random costly requests': requests.length,
      'CPU of the costliest random request, in plain requests': `${worst.ratio.toFixed(1)} (${worst.name})`,
    }
  },
}

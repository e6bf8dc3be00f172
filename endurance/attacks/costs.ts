/** Requests that may cost the service far more CPU than their sender. */

import { check } from '../check.ts'
import { type Connection, connect } from '../connection.ts'
import type { Service } from '../rollcall.ts'
import { median } from '../statistics.ts'
import { readCpu } from '../usage.ts'
import type { Attack } from './attack.ts'
import { COSTLY_REQUESTS, type CostlyRequest, toBytes, toPlainBytes } from './costly-requests.ts'

/** A request costs at most this many times the CPU of a valid request of its size. */
const MOST_RATIO = 10

/** Each sample is so many requests, or as many as fit into this time. */
const REQUESTS = 40
const SAMPLE_MS = 500

export const costs: Attack = {
  name: 'costly requests',
  async run({ createList, amount, progress }) {
    const service = await (await createList()).serve()
    const connection = await connect(service.port)
    const ratios: { readonly name: string; readonly ratio: number }[] = []
    for (const request of COSTLY_REQUESTS) {
      const ratio = await measureRatio(service, connection, request, amount(9, 3))
      ratios.push({ name: request.name, ratio })
      if (ratio > MOST_RATIO / 2) progress(`${request.name}: ${ratio.toFixed(1)} times a plain request`)
    }
    connection.close()
    await service.stop()
    const [worst = { name: '', ratio: 0 }] = ratios.sort((one, other) => other.ratio - one.ratio)
    const tooCostly = ratios.filter(({ ratio }) => ratio > MOST_RATIO)
    const text = tooCostly.map(({ name, ratio }) => `${name}: ${ratio.toFixed(0)} times a plain request`).join('; ')
    check(tooCostly.length === 0, () => text)
    return {
      'kinds of costly requests': ratios.length,
      'CPU of the costliest, in plain requests': `${worst.ratio.toFixed(1)} (${worst.name})`,
    }
  },
}

/** Compares a costly request with a plain one, in turn. */
async function measureRatio(
  service: Service,
  connection: Connection,
  request: CostlyRequest,
  rounds: number,
): Promise<number> {
  const [costly, plain] = [toBytes(request), toPlainBytes(request)]
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const base = await measureCpu(service, connection, plain)
    ratios.push((await measureCpu(service, connection, costly)) / base)
  }
  return median(ratios)
}

/** The CPU milliseconds of a request. */
async function measureCpu(service: Service, connection: Connection, bytes: string): Promise<number> {
  const data = Buffer.from(bytes, 'latin1')
  const [before, start] = [readCpu(service.process.pid).used, performance.now()]
  let requests = 0
  while (requests < REQUESTS && performance.now() - start < SAMPLE_MS) {
    requests++
    const reply = await connection.request(data)
    const isAnswered = reply !== undefined && reply.status < 500
    check(isAnswered, () => `${bytes.slice(0, 100)} … is answered ${reply?.status ?? 'not at all'}`)
  }
  return (readCpu(service.process.pid).used - before) / requests
}

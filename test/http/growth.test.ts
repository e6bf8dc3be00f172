/** Requests that all differ: nothing that the service keeps grows with them. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DOCUMENTS } from '../support/contract.ts'
import { openConnection, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

/** Requests of each measurement, and the most MiB by which memory may grow with them. */
const REQUESTS = 20_000
const MAX_GROWTH_MIB = 24

const AT_ONCE = 16

let service: RunningService

beforeAll(async () => {
  service = await startService({ env: { OPS_PORT: '0', CORS_ORIGINS: 'https://a.example' } })
})
afterAll(() => service.stop())

test('20,000 values of each field, path and member take no memory and add no metric', async () => {
  // The heap reaches its size with requests that are all the same.
  await send((index) => toDistinct(index % 6))
  const before = { memory: readMemory(), metrics: await readMetrics() }
  await send(toDistinct)
  const after = { memory: readMemory(), metrics: await readMetrics() }
  expect(after.metrics).toEqual(before.metrics)
  expect(after.memory - before.memory).toBeLessThan(MAX_GROWTH_MIB)
})

/** Writes one of three requests, with a value that differs in each part. */
function toDistinct(index: number): string {
  const value = `${index}-`.padEnd(1_800, 'x')
  const names = ['Accept', 'Accept-Encoding', 'Accept-Language', 'If-None-Match', 'Origin', 'Cookie', 'X-Forwarded-For']
  const fields = [`Host: h${index}.example`, ...names.map((name) => `${name}: ${value}, gzip, de, text/markdown`)]
  switch (index % 3) {
    case 0:
      return toRequest(`GET /?${value}`, fields)
    case 1:
      return toRequest(`GET ${index % 2 ? DOCUMENTS.openApiJson.path : `/${value}`}`, fields)
    default:
      return toRequest('POST /api/newsletter', [...fields, 'Content-Type: application/json'], `{"${value}":"${value}"}`)
  }
}

async function send(toBytes: (index: number) => string): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const connection = await openConnection(service.port)
      while (next < REQUESTS) {
        connection.send(toBytes(next++))
        expect((await connection.receive())?.status).toBeOneOf([200, 400, 404])
      }
      connection.close()
    }),
  )
}

/** Returns the resident memory of the service, in MiB. */
function readMemory(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024
}

/** Returns the names of all metrics, with their labels. */
async function readMetrics(): Promise<string[]> {
  const text = await (await fetch(`http://127.0.0.1:${service.opsPort}/metrics`)).text()
  return text.split('\n').map((line) => line.replace(/ [^ ]+$/, ''))
}

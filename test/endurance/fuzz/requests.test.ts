/** The random requests of the endurance suite are what they say they are. */

import { expect, test } from 'bun:test'
import { createFuzz, type FuzzRequest } from '../../../endurance/fuzz/requests.ts'
import { createRandom } from '../../../endurance/random.ts'
import { parseAddress } from '../../../src/email.ts'
import { ENDPOINT } from '../../../src/routes.ts'

function take(count: number, seed = 1): FuzzRequest[] {
  const next = createFuzz(createRandom(seed))
  return Array.from({ length: count }, next)
}

test('a seed repeats the requests', () => {
  expect(take(200, 5)).toEqual(take(200, 5))
})

test('every kind of request is among them, and most are well-formed', () => {
  const byKind = Map.groupBy(take(5_000), ({ expects }) => expects)
  expect(byKind.get('declared')?.length).toBeGreaterThan(3_000)
  expect(byKind.get('page')?.length).toBeGreaterThan(100)
  expect(byKind.get('anything')?.length).toBeGreaterThan(100)
})

test('an identity belongs to a valid address, and to one request only', () => {
  const identities = take(5_000).flatMap(({ identity, expects }) =>
    expects !== 'anything' && identity ? identity : [],
  )
  expect(identities.length).toBeGreaterThan(1_000)
  expect(new Set(identities).size).toBe(identities.length)
  expect(identities.filter((identity) => !parseAddress(identity).ok)).toEqual([])
})

test('a well-formed request has an end: its length is that of its body', () => {
  for (const { bytes, expects } of take(2_000)) {
    const [head = '', ...rest] = bytes.split('\r\n\r\n')
    const length = /\r\nContent-Length: (\d+)/.exec(head)?.[1]
    if (expects !== 'anything' && length) expect(rest.join('\r\n\r\n').length).toBe(Number(length))
  }
})

test('the endpoint gets most of them', () => {
  const requests = take(1_000)
  expect(requests.filter(({ target }) => target.startsWith(ENDPOINT.path)).length).toBeGreaterThan(400)
})

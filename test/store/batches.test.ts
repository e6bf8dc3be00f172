/** The batches of a command, on a list in memory that says how long it held its lock. */

import { expect, test } from 'bun:test'
import type { Address } from '../../src/email.ts'
import { type Batch, countImport, createBatches } from '../../src/store/batches.ts'

const PART = 50_000

const toRows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ email: `user${from + index}@site.io` as Address }))

/** @param toMilliseconds how long a batch of so many rows holds the lock */
function createList(toMilliseconds: (rows: number) => number) {
  const batches: { readonly addresses: readonly Address[]; readonly startedAt: number; readonly endedAt: number }[] = []
  const changes = createBatches(async <Outcome>({ addresses, plan }: Batch<Outcome>) => {
    const startedAt = performance.now()
    const { outcomes } = plan(
      addresses.map(() => ({})),
      new Date(),
    )
    batches.push({ addresses, startedAt, endedAt: performance.now() })
    return { outcomes, lockedAt: performance.now() - toMilliseconds(addresses.length) }
  })
  return { ...changes, batches, sizes: () => batches.map(({ addresses }) => addresses.length) }
}

test('the first batch has 500 rows, and each holds the lock for less than 0.1 s, in the next call too', async () => {
  const fast = createList((rows) => rows * 0.03)
  expect(await fast.import(toRows(12_000))).toEqual({ added: 12_000, alreadyListed: 0, leftOut: 0 })
  expect(fast.sizes()[0]).toBe(500)
  expect(fast.sizes()[1]).toBeGreaterThan(500)
  // Rows for a batch of 4,000, if the time of a batch had no limit.
  for (const size of fast.sizes()) expect(size).toBeLessThan(3_000)
  const before = fast.sizes().length
  await fast.suppress(toRows(1_500), { removeUndated: false })
  expect(fast.sizes()[before]).toBeGreaterThan(500)
})

test('where a process gets a tenth of the processor, an import does the same work: no batch is smaller than the first', async () => {
  const slow = createList(() => 5_000)
  await slow.import(toRows(2_000))
  expect(slow.sizes()).toEqual([500, 500, 500, 500])
})

test('a service gets the lock between two batches', async () => {
  const { batches, ...list } = createList(() => 60)
  await list.import(toRows(2_000))
  const pauses = batches.slice(1).map(({ startedAt }, index) => startedAt - batches[index]!.endedAt)
  // A timer may fire a little early.
  expect(Math.min(...pauses)).toBeGreaterThan(8)
})

test('all rows are written, those of a large file in the order of their identities in each part, and removals in any case', async () => {
  const { batches, ...list } = createList((rows) => rows / 1_000)
  const rows = toRows(PART + 3).toReversed()
  const small = rows.slice(0, PART).map(({ email }) => email)
  const written = () => batches.splice(0).flatMap(({ addresses }) => addresses)
  await list.import(rows.slice(0, PART))
  // The order of an export.
  expect(written()).toEqual(small)
  await list.suppress(rows.slice(0, PART), { removeUndated: false })
  expect(written()).toEqual(small.toSorted())
  await list.remove(small, { suppress: true })
  expect(written()).toEqual(small.toSorted())
  await list.suppress(rows, { removeUndated: false })
  const parts = [rows.slice(0, PART), rows.slice(PART)].map((part) => part.map(({ email }) => email).toSorted())
  expect(batches.flatMap(({ addresses }) => addresses)).toEqual(parts.flat())
})

test('an abort stops before the next batch, and the progress says what is written', async () => {
  for (const verb of ['import', 'suppress', 'remove'] as const) {
    const { batches, ...list } = createList(() => 60)
    const controller = new AbortController()
    let done = 0
    const options = {
      ...{ suppress: true, removeUndated: true, signal: controller.signal },
      onProgress(rows: number) {
        done = rows
        if (batches.length === 3) controller.abort(new Error('stop'))
      },
    }
    const emails = toRows(10_000)
      .map(({ email }) => email)
      .toSorted()
    const rows = emails.map((email) => ({ email }))
    const work = verb === 'remove' ? list.remove(emails, options) : list[verb](rows, options)
    await expect(work).rejects.toThrow('stop')
    expect([batches.length, done]).toEqual([3, batches.flatMap(({ addresses }) => addresses).length])
    expect(batches.flatMap(({ addresses }) => addresses)).toEqual(emails.slice(0, done))
  }
})

test('Ctrl-C ends the count of a large file between two pages, also when nothing is read', async () => {
  const controller = new AbortController()
  let done = 0
  const onProgress = (rows: number) => {
    done = rows
  }
  // A signal of the system arrives in a turn of the event loop, as this does.
  setImmediate(() => controller.abort(new Error('stop')))
  const rows = { optOuts: [], subscribers: toRows(PART) }
  const options = { removeUndated: false, signal: controller.signal, onProgress }
  await expect(countImport(undefined, rows, options)).rejects.toThrow('stop')
  expect(done).toBeLessThan(PART)
})

test('a removal returns the state of each address, in their order', async () => {
  const { remove } = createList(() => 60)
  expect(await remove([], { suppress: true })).toEqual([])
  const addresses = toRows(1_200).map(({ email }) => email)
  expect(await remove(addresses, { suppress: true })).toEqual(addresses.map(() => 'absent'))
})

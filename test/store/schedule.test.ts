/** When a service compacts. The clock is the test's own, so that a busy machine changes nothing. */

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { createSchedule, type Schedule } from '../../src/store/schedule.ts'
import { MigratingError } from '../../src/subscriber.ts'

/** What a slice returns: whether there may be more. */
const [DONE, MORE] = [false, true] as const

let schedule: Schedule

beforeEach(() => void jest.useFakeTimers())

afterEach(async () => {
  await schedule.stop()
  jest.useRealTimers()
})

/** Lets time pass, in steps of a millisecond. */
async function pass(milliseconds: number): Promise<void> {
  for (let step = 0; step < milliseconds; step++) {
    jest.advanceTimersByTime(1)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
}

type Outcome = boolean | Error | Promise<boolean>

/**
 * Starts a schedule whose slices have these outcomes, the last of them again and again. Not a real list: only the moments are the
 * subject. test/service/compaction.test.ts has a real one.
 */
function start(...outcomes: readonly Outcome[]) {
  const lines: string[] = []
  let slices = 0
  schedule = createSchedule(
    async () => {
      const outcome = outcomes[Math.min(slices++, outcomes.length - 1)]!
      if (outcome instanceof Error) throw outcome
      return await outcome
    },
    (level, text) => lines.push(`${level}: ${text}`),
  )
  return { lines, slices: () => slices }
}

/** Commits every 50 ms. */
async function commitFor(milliseconds: number): Promise<void> {
  for (let time = 0; time < milliseconds; time += 50) {
    schedule.committed()
    await pass(50)
  }
}

test('what an earlier process left is compacted after 250 ms, without a commit and beside commits', async () => {
  const idle = start(MORE, MORE, DONE)
  await pass(300)
  expect(idle.slices()).toBe(3)
  const busy = start(MORE, MORE, DONE)
  await commitFor(300)
  expect(busy.slices()).toBe(3)
})

test('compaction starts 250 ms after the last commit', async () => {
  const { slices } = start(DONE)
  await pass(1_000)
  await commitFor(500)
  await pass(199)
  expect(slices()).toBe(1)
  await pass(1)
  expect(slices()).toBe(2)
  await pass(60_000)
  expect(slices()).toBe(2)
})

test('beside commits, it starts when an address is 10 s old, and takes what was there when it started', async () => {
  const { slices } = start(DONE, MORE, MORE, DONE)
  await pass(1_000)
  await commitFor(9_900)
  expect(slices()).toBe(1)
  await commitFor(300)
  expect(slices()).toBe(4)
  // What came during the run waits for its own turn.
  await commitFor(9_700)
  expect(slices()).toBe(4)
  await commitFor(300)
  expect(slices()).toBe(5)
})

test('beside commits, it pauses for as long as a slice takes', async () => {
  const slow = Array.from({ length: 3 }, () => Promise.withResolvers<boolean>())
  const { slices } = start(...slow.map(({ promise }) => promise), MORE)
  const endSlice = async (index: number) => {
    await pass(80)
    slow[index]!.resolve(MORE)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
  await pass(250)
  await endSlice(0)
  // No commit came: the next slice follows at once.
  schedule.committed()
  await pass(5)
  expect(slices()).toBe(2)
  // A commit came in the pause.
  await endSlice(1)
  await pass(75)
  expect(slices()).toBe(2)
  await pass(10)
  expect(slices()).toBe(3)
  // The last commit was 250 ms ago.
  await pass(20)
  await endSlice(2)
  await pass(5)
  expect(slices()).toBeGreaterThan(3)
})

test('a failure is logged once, tried again every 2 s, and its end is logged', async () => {
  const full = new Error('the disk is full')
  const { lines, slices } = start(full, full, MORE, DONE, full, DONE)
  await pass(300)
  expect(schedule.isFailing()).toBe(true)
  const begins = 'warn: compaction fails: addresses stay in the inbox until it works: the disk is full'
  await pass(1_900)
  expect([slices(), lines]).toEqual([1, [begins]])
  await pass(4_000)
  expect([slices(), lines]).toEqual([4, [begins, 'info: compaction works again']])
  expect(schedule.isFailing()).toBe(false)
  schedule.committed()
  await pass(300)
  expect(lines.slice(2)).toEqual([begins])
})

test('a migration is no failure, and compaction begins after it', async () => {
  const migrating = new MigratingError('the list is being migrated')
  const { lines, slices } = start(migrating, migrating, MORE, DONE)
  await pass(300)
  expect([slices(), schedule.isFailing()]).toEqual([1, false])
  await pass(4_000)
  expect([slices(), lines]).toEqual([4, []])
})

test('stop ends a pause at once, waits for the slice that runs, starts no other, and calls it no failure', async () => {
  const failing = start(new Error('the disk is full'))
  await pass(300)
  await schedule.stop()
  await pass(60_000)
  expect(failing.slices()).toBe(1)

  const slow = Promise.withResolvers<boolean>()
  const { lines, slices } = start(slow.promise)
  await pass(300)
  let isStopped = false
  const stopped = schedule.stop().then(() => (isStopped = true))
  await pass(100)
  expect(isStopped).toBe(false)
  slow.reject(new Error('the connection was closed'))
  await stopped
  await pass(60_000)
  expect([slices(), lines]).toEqual([1, []])
})

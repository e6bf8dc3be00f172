/** When a list is compacted. The schedule waits for a state, so the tests compare orders, and not times. */

import { expect, test } from 'bun:test'
import { compactUntil, createSchedule, LARGE_BACKLOG, type Slice } from '../../src/store/schedule.ts'
import { until } from '../support/wait.ts'

test('compacts while it is idle, until nothing is left', async () => {
  const slices: Slice[] = [
    { moved: 1, left: true },
    { moved: 1, left: true },
    { moved: 1, left: false },
  ]
  let done = 0
  const schedule = createSchedule(() => slices[done++] ?? { moved: 0, left: false })
  await until(() => done === 3)
  await Bun.sleep(300)
  expect(done).toBe(3)
  schedule.committed(1)
  expect(done).toBe(3)
  await until(() => done === 4)
  await schedule.stop()
})

test('waits while commits come in, unless the backlog is large', async () => {
  let done = 0
  const schedule = createSchedule(() => {
    done++
    return { moved: 50_000, left: true }
  })
  const commit = (addresses: number) => {
    schedule.committed(addresses)
    return new Promise((resolve) => setImmediate(resolve))
  }
  for (let turn = 0; turn < 100; turn++) await commit(1)
  expect(done).toBe(0)
  schedule.committed(LARGE_BACKLOG + 20_000)
  while (done === 0) await commit(0)
  // The backlog is no longer large.
  for (let turn = 0; turn < 100; turn++) await commit(0)
  expect(done).toBe(1)
  await schedule.stop()
})

test('tries again after a failure, and stops between two slices', async () => {
  let attempts = 0
  let release = () => {}
  const schedule = createSchedule(async () => {
    if (++attempts === 1) throw new Error('the disk is full')
    await new Promise<void>((resolve) => (release = resolve))
    return { moved: 1, left: true }
  })
  await until(() => attempts === 2)
  let isStopped = false
  const stopped = schedule.stop().then(() => (isStopped = true))
  await Bun.sleep(20)
  expect(isStopped).toBe(false)
  release()
  await stopped
  await Bun.sleep(20)
  expect(attempts).toBe(2)
})

test('a command compacts what was accepted before it, and fails when a slice does', async () => {
  const limits: (number | undefined)[] = []
  await compactUntil(7, (limit) => {
    limits.push(limit)
    return { moved: 1, left: limits.length < 3 }
  })
  expect(limits).toEqual([7, 7, 7])
  await expect(compactUntil(7, () => Promise.reject(new Error('locked')))).rejects.toThrow('locked')
})

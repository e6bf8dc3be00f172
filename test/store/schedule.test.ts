/** When a list is compacted. The schedule waits for a state, so the tests compare orders, and not times. */

import { expect, test } from 'bun:test'
import { createSchedule, LARGE_BACKLOG } from '../../src/store/schedule.ts'
import { until } from '../support/wait.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('waits while commits come in, unless the backlog is large', async () => {
  let done = 0
  const schedule = createSchedule(() => {
    done++
    return { moved: 50_000, left: true }
  })
  const commit = async (addresses: number) => {
    schedule.committed(addresses)
    await nextTurn()
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

test('tries again after a failure, goes on until nothing is left, and stops between two slices', async () => {
  let attempts = 0
  let release = () => {}
  const schedule = createSchedule(async () => {
    if (++attempts === 1) throw new Error('the disk is full')
    if (attempts === 4) await new Promise<void>((resolve) => (release = resolve))
    return { moved: 1, left: true }
  })
  await until(() => attempts === 4)
  let isStopped = false
  const stopped = schedule.stop().then(() => (isStopped = true))
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect(isStopped).toBe(false)
  release()
  await stopped
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect(attempts).toBe(4)
})

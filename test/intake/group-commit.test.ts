/** Group commit: which addresses share a commit, which wait, and which are given up. */

import { expect, test } from 'bun:test'
import type { Address } from '../../src/email.ts'
import { createGroupCommit } from '../../src/intake/group-commit.ts'
import { until } from '../support/wait.ts'

/** Starts a group commit whose commits end when the test says so, and records what happens in order. */
function start({ deadlineMs = 60_000 } = {}) {
  const events: string[] = []
  const commits: PromiseWithResolvers<void>[] = []
  const group = createGroupCommit(
    (batch) => {
      const commit = Promise.withResolvers<void>()
      events.push(`commit ${batch.join(' ')}`)
      commits.push(commit)
      return commit.promise
    },
    { deadlineMs, onExpired: ({ message }) => events.push(message) },
  )

  const settles = <T>(promise: Promise<T>, name: string) =>
    promise.then(
      () => events.push(`${name} confirmed`),
      () => events.push(`${name} refused`),
    )

  async function end(index: number, how: 'resolve' | 'reject'): Promise<void> {
    await until(() => commits.length > index, `commit ${index} starts`)
    events.push(`end ${index}`)
    commits[index]![how](new Error('the disk is full') as never)
    await turns()
  }

  return {
    events,
    pending: group.pending,
    add: (...names: string[]) => Promise.all(names.map((name) => settles(group.add(name as Address), name))),
    succeed: (index: number) => end(index, 'resolve'),
    fail: (index: number) => end(index, 'reject'),
  }
}

/** Lets the event loop take more turns than a burst may delay a commit. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('addresses of one turn share a commit; addresses that come during a commit share the next one', async () => {
  const { add, succeed, events, pending } = start()
  void add('a', 'b', 'c')
  await turns()
  void add('d')
  await turns()
  void add('e')
  await turns()
  expect(pending()).toBe(5)
  await succeed(0)
  expect(pending()).toBe(2)
  await succeed(1)
  expect(pending()).toBe(0)
  expect(events).toEqual([
    ...['commit a b c', 'end 0', 'a confirmed', 'b confirmed', 'c confirmed'],
    ...['commit d e', 'end 1', 'd confirmed', 'e confirmed'],
  ])
})

test('a commit waits while each turn brings another address, for a few turns', async () => {
  const { add, events } = start()
  for (const name of 'abcdefgh') {
    void add(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await turns()
  expect(events).toEqual(['commit a b c d e'])
})

test('a commit that fails refuses its own addresses only', async () => {
  const { add, succeed, fail, events } = start()
  void add('a')
  await turns()
  void add('b')
  await fail(0)
  await succeed(1)
  expect(events).toEqual(['commit a', 'end 0', 'a refused', 'commit b', 'end 1', 'b confirmed'])
})

test('a commit has at most 8192 addresses, in their order', async () => {
  const { add, succeed, events } = start()
  const names = Array.from({ length: 20_000 }, (_, index) => String(index))
  let isConfirmed = false
  void add(...names).then(() => {
    isConfirmed = true
  })
  // Three commits, or more on a machine that is so busy that the clock ticks meanwhile.
  for (let index = 0; !isConfirmed; index++) await succeed(index)
  const batches = events.filter((event) => event.startsWith('commit')).map((event) => event.split(' ').slice(1))
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(8192)
  expect(batches.flat()).toEqual(names)
})

test('the deadline fires while the store hangs, and addresses that no commit has are dropped', async () => {
  const { add, succeed, events, pending } = start({ deadlineMs: 1_000 })
  const committing = add('a')
  await turns()
  await Promise.all([committing, add('b', 'c')])
  const refused = events.filter((event) => event.endsWith('refused'))
  expect(refused.toSorted()).toEqual(['a refused', 'b refused', 'c refused'])
  expect(events).toContain('the store did not confirm within 1000 ms')
  // The store still has the first one.
  await until(() => pending() === 1, 'the addresses that wait are dropped')

  const late = add('d')
  await succeed(0)
  await succeed(1)
  await late
  expect(events.filter((event) => event.startsWith('commit'))).toEqual(['commit a', 'commit d'])
  expect(events.at(-1)).toBe('d confirmed')
  expect(pending()).toBe(0)
})

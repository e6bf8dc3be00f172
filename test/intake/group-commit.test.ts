/** Group commit: what goes together, what waits, what is given up. */

import { expect, test } from 'bun:test'
import type { Address } from '../../src/email.ts'
import { createGroupCommit, type GroupCommitOptions } from '../../src/intake/group-commit.ts'
import { until } from '../support/load.ts'

/** A store whose commits end when the test says so. */
function start(options: Partial<GroupCommitOptions> = {}) {
  const commits: { readonly batch: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = []
  const expired: Error[] = []
  const group = createGroupCommit(
    (batch) => {
      const end = Promise.withResolvers<void>()
      commits.push({ batch: [...batch], end })
      return end.promise
    },
    { deadlineMs: 60_000, onExpired: (error) => expired.push(error), ...options },
  )
  return {
    add: (...names: string[]) => names.map((name) => group.add(name as Address)),
    idle: group.idle,
    expired,
    batches: () => commits.map(({ batch }) => batch),
    /** The end of a commit, as soon as it is under way. */
    async end(index: number): Promise<PromiseWithResolvers<void>> {
      await until(() => commits.length > index)
      return commits[index]!.end
    },
  }
}

/** One turn of the event loop, and what follows from it. */
const turn = () => Bun.sleep(1)

/** What a promise has become by now. */
async function toState(promise: Promise<void>): Promise<string> {
  const compacted = promise.then(
    () => 'kept',
    () => 'refused',
  )
  return await Promise.race([compacted, turn().then(() => 'open')])
}

test('what comes in one turn goes together; what comes while a commit is under way goes into the next', async () => {
  const { add, end, batches } = start()
  const [first] = add('a', 'b', 'c')
  await end(0)
  const [second] = add('d')
  await turn()
  const [third] = add('e')
  await turn()
  expect(batches()).toEqual([['a', 'b', 'c']])
  expect(await toState(first!)).toBe('open')

  ;(await end(0)).resolve()
  expect([await toState(first!), await toState(second!)]).toEqual(['kept', 'open'])
  ;(await end(1)).resolve()
  expect(batches()).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ])
  expect([await toState(second!), await toState(third!)]).toEqual(['kept', 'kept'])
})

test('a commit that fails refuses its own addresses and no others', async () => {
  const { add, end } = start()
  const [first] = add('a')
  await end(0)
  const [second] = add('b')
  ;(await end(0)).reject(new Error('full'))
  expect(await toState(first!)).toBe('refused')
  ;(await end(1)).resolve()
  expect(await toState(second!)).toBe('kept')
})

test('a commit takes no more than it is allowed, in the order of arrival', async () => {
  const { add, end, batches } = start({ maxBatch: 3 })
  void add('a', 'b', 'c', 'd', 'e', 'f', 'g')
  for (let index = 0; index < 3; index++) {
    ;(await end(index)).resolve()
  }
  expect(batches()).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']])
})

test('as many commits are under way as are allowed', async () => {
  const { add, end, batches } = start({ inFlight: 2 })
  const [first] = add('a')
  await end(0)
  const [second] = add('b')
  await end(1)
  void add('c')
  await turn()
  expect(batches()).toEqual([['a'], ['b']])
  ;(await end(1)).resolve()
  expect([await toState(first!), await toState(second!)]).toEqual(['open', 'kept'])
  await end(2)
  expect(batches()).toEqual([['a'], ['b'], ['c']])
})

test('a store that hangs: the deadline fires for all, and what was not handed over is forgotten', async () => {
  const { add, end, expired, batches, idle } = start({ deadlineMs: 200 })
  const under = add('under way')[0]!
  await end(0)
  const waiting = add(...Array.from({ length: 10_000 }, (_, index) => `waiting ${index}`))
  await Promise.allSettled([under, ...waiting])
  expect(await toState(under)).toBe('refused')
  expect(await Promise.all([waiting[0]!, waiting.at(-1)!].map(toState))).toEqual(['refused', 'refused'])
  expect(expired[0]?.message).toBe('the store has not confirmed within 200 ms')

  const [late] = add('late')
  ;(await end(0)).resolve()
  ;(await end(1)).resolve()
  expect(batches()).toEqual([['under way'], ['late']])
  await idle()
  expect(await toState(late!)).toBe('kept')
})

test('idle when nothing is under way and nothing waits', async () => {
  const { add, end, idle } = start()
  expect(await toState(idle())).toBe('kept')
  void add('a')
  await end(0)
  void add('b')
  const ended = idle()
  ;(await end(0)).resolve()
  expect(await toState(ended)).toBe('open')
  ;(await end(1)).reject(new Error('full'))
  expect(await toState(ended)).toBe('kept')
})

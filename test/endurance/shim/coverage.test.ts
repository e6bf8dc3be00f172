/** A response counts as covered when a sync that began after the write of its address had ended before it was sent. */

import { expect, test } from 'bun:test'
import { findCovered } from '../../../endurance/shim/coverage.ts'
import type { Record } from '../../../endurance/shim/recording.ts'

const [FILE, OTHER, PORT] = [1, 2, 40_000]
const position = 0
const write = (text: string): Record => ({
  ...{ kind: 'write', position, inode: FILE, offset: 0 },
  data: Buffer.from(`…${text}…`),
})
const begin = (id: bigint, inode = FILE): Record => ({ kind: 'syncBegin', position, inode, id })
const end = (id: bigint, isDone = true, inode = FILE): Record => ({ kind: 'syncEnd', position, inode, id, isDone })
const send = (start = 'HTTP/1.1 200 OK'): Record => ({ kind: 'send', position, port: PORT, start })

const find = (...records: readonly Record[]) => findCovered(records, new Map([[PORT, ['a1', 'a2']]]), /a\d/g)

test('a sync after the write covers the response', () => {
  expect(find(write('a1'), begin(1n), end(1n), send())).toEqual({ covered: 1, early: [], syncs: 1 })
})

test.each([
  ['no sync', [write('a1'), send()]],
  ['a sync that has not ended', [write('a1'), begin(1n), send(), end(1n)]],
  ['a sync that began before the write', [begin(1n), write('a1'), end(1n), send()]],
  ['a sync that failed', [write('a1'), begin(1n), end(1n, false), send()]],
  ['a sync of another file', [write('a1'), begin(1n, OTHER), end(1n, true, OTHER), send()]],
  ['no write', [begin(1n), end(1n), send()]],
])('%s does not', (_, records) => {
  expect(find(...records)).toMatchObject({ covered: 0, early: ['a1'] })
})

test('the responses of a connection are in the order of its requests, and other responses do not count', () => {
  const records = [write('a1'), begin(1n), end(1n), send('HTTP/1.1 100 Con'), send(), write('a2'), send()]
  expect(find(...records)).toEqual({ covered: 1, early: ['a2'], syncs: 1 })
})

/** The limits of the contract, and those that the guides promise. Tests of their subjects show that each is kept. */

import { expect, test } from 'bun:test'
import * as limits from '../src/limits.ts'
import { STATEMENT_MS } from '../src/store/postgres/inbox.ts'
import { MIN_COMMIT_BYTES, PAGE_BYTES } from '../src/store/sqlite/file.ts'
import { toNextDelay } from '../src/transfer/writing/hand-over.ts'
import { readText } from './support/markdown.ts'

test('the limits of the contract are those of docs/http.md, in words that a reader understands', () => {
  expect(limits.MAX_ADDRESS_LENGTH).toBe(254)
  expect(limits.MAX_BODY_BYTES).toBe(16 * KIB)
  expect(limits.BODY_DEADLINE_MS).toBe(10_000)
  expect(limits.STORE_DEADLINE_MS).toBe(5_000)
})

const KIB = 1024
const MIB = 1024 * KIB

/** Where a guide promises a limit: the words around the number, the unit of the number, and the limit. */
const PROMISES: readonly (readonly [file: string, words: RegExp, unit: number, limit: number])[] = [
  ['docs/http.md', /body did not arrive within (\d+) s/, 1000, limits.BODY_DEADLINE_MS],
  ['docs/http.md', /body is larger than (\d+) KiB/, KIB, limits.MAX_BODY_BYTES],
  ['docs/http.md', /did not confirm within (\d+) s/, 1000, limits.STORE_DEADLINE_MS],
  ['docs/http.md', /body is larger than (\d+) MiB or takes/, MIB, limits.MAX_DISCARDED_BYTES],
  ['docs/http.md', /longer than (\d+) s, the response comes/, 1000, limits.BODY_DEADLINE_MS],
  ['docs/deploy.md', /idle connection before Rollcall does, after (\d+) s/, 1, limits.IDLE_TIMEOUT_S],
  ['docs/deploy.md', /^Rollcall does, after (\d+) s/m, 1, limits.IDLE_TIMEOUT_S],
  ['docs/cli.md', /by default (\d+) with `--follow`/, 1, limits.HAND_OVER_BATCH],
  ['docs/hand-over.md', /and so on up to (\d+)\nseconds/, 1000, limits.RETRY_DELAY_MS.maximum],
  ['docs/import.md', /Split a file above (\d+) MiB/, MIB, limits.MAX_IMPORT_BYTES],
  ['docs/operations.md', /most (\d+) s\. If it must cut off/, 1000, limits.STOP_DEADLINE_MS],
  ['docs/operations.md', /at least (\d+) MiB, which `doctor` checks/, MIB, limits.MIN_FREE_BYTES],
  ['docs/postgres.md', /the service answers 500 within (\d+) s/, 1000, limits.STORE_DEADLINE_MS],
  ['docs/settings.md', /`portrait`.* at most (\d+) KiB/, KIB, limits.MAX_PICTURE_BYTES.portrait],
  ['docs/settings.md', /`logo`.* at most (\d+) KiB/, KIB, limits.MAX_PICTURE_BYTES.logo],
  ['docs/settings.md', /`card`.* at most (\d+) KiB/, KIB, limits.MAX_PICTURE_BYTES.card],
  ['ARCHITECTURE.md', /reads the body \(at most (\d+) KiB/, KIB, limits.MAX_BODY_BYTES],
  ['ARCHITECTURE.md', /KiB in (\d+) s\)/, 1000, limits.BODY_DEADLINE_MS],
  ['ARCHITECTURE.md', /After ([\d.]+) s it gives up/, 1000, limits.GIVE_UP_MS],
]

test.each(PROMISES)('%s: %s', (file, words, unit, limit) => {
  const found = [...readText(file).matchAll(new RegExp(words.source, `g${words.flags}`))].map(([, number]) =>
    Number(number),
  )
  expect(found).toEqual([limit / unit])
})

test('a limit that depends on another one leaves it room, and not much more', () => {
  expect(limits.GIVE_UP_MS).toBeWithin(limits.STORE_DEADLINE_MS - 1_000, limits.STORE_DEADLINE_MS - 200)
  const longest = limits.BODY_DEADLINE_MS + limits.STORE_DEADLINE_MS
  expect(limits.RESPONSE_TIMEOUT_MS).toBeWithin(longest + 1_000, longest + 10_000)
  expect(limits.HEALTH_DEADLINE_MS).toBeWithin(limits.STORE_DEADLINE_MS, limits.STORE_DEADLINE_MS + 2_000)
  expect(limits.IDLE_TIMEOUT_S * 1000).toBeWithin(longest + 1_000, 3 * longest)
  expect(limits.LOCK_TIMEOUT_MS).toBeWithin(10_000, 60_001)
  // A statement of a change, which others wait for, and a commit on a full disk, which is a page or two.
  expect(STATEMENT_MS).toBeWithin(limits.STORE_DEADLINE_MS, limits.LOCK_TIMEOUT_MS)
  expect(MIN_COMMIT_BYTES).toBeWithin(4 * PAGE_BYTES, limits.MIN_FREE_BYTES / 100)
})

test('the pause between two attempts grows from a second to a minute, and not further', () => {
  const delays: number[] = [limits.RETRY_DELAY_MS.first]
  while (delays.length < 10) delays.push(toNextDelay(delays.at(-1) ?? 0))
  expect(delays.map((delay) => delay / 1000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
})

/**
 * `bun bench/hashes.ts`: what the hash of an identity costs, for each candidate of decision 42, and what a whole
 * compaction costs with it. All candidates run in turn, and a ratio is the median of the ratios of the rounds.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '../src/email.ts'
import { createHalfSipHash } from '../src/store/sqlite/half-sip-hash.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { createSipHash } from './sip-hash.ts'

type Hash = (text: string) => number

const ROUNDS = 7
const ADDRESSES = Array.from(
  { length: 200_000 },
  (_, index) => `user.${1e9 + ((index * 40503 * 65521) % 2 ** 32)}@mail-${index % 97}.example` as Address,
)

const key = crypto.getRandomValues(new Uint8Array(32))
const hmac = new Bun.CryptoHasher('sha256', key)
const prefix = Buffer.from(key).toString('hex')
const toNumber = (digest: Uint8Array) => new DataView(digest.buffer, digest.byteOffset).getUint32(0)

const CANDIDATES: Readonly<Record<string, Hash>> = {
  'xxHash32 with a seed (before)': (text) => Bun.hash.xxHash32(text, 12_345),
  'HalfSipHash-2-4': createHalfSipHash(key.subarray(0, 8)),
  'SipHash-2-4': createSipHash(key.subarray(8, 24)),
  'HMAC-SHA-256': (text) => toNumber(hmac.copy().update(text).digest()),
  'SHA-256 of key and text': (text) => toNumber(Bun.CryptoHasher.hash('sha256', prefix + text) as Uint8Array),
  'BLAKE2s of key and text': (text) => toNumber(new Bun.CryptoHasher('blake2s256').update(prefix + text).digest()),
}

interface Cost {
  /** CPU microseconds for each address. */
  readonly hash: number
  readonly compaction: number
}

/** CPU microseconds of some work for each address. */
function measure(work: () => void): number {
  Bun.gc(true)
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / ADDRESSES.length
}

async function measureCandidate(hashOf: Hash): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-hashes-'))
  const store = openSqliteStore(join(folder, 'list.db'), { hashOf })
  for (let start = 0; start < ADDRESSES.length; start += 64) {
    store.append(JSON.stringify(ADDRESSES.slice(start, start + 64)))
  }
  const hash = measure(() => ADDRESSES.forEach(hashOf))
  const compaction = measure(() => {
    while (store.compactFor(2));
  })
  await store.close()
  rmSync(folder, { recursive: true })
  return { hash, compaction }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const names = Object.keys(CANDIDATES)
const rounds: Cost[][] = []
for (let round = 0; round <= ROUNDS; round++) {
  const costs: Cost[] = []
  for (const name of names) costs.push(await measureCandidate(CANDIDATES[name] ?? (() => 0)))
  // The first round compiles the code.
  if (round > 0) rounds.push(costs)
}

console.log('| Hash | CPU µs per address | compaction, CPU µs per address | compaction, against the first |')
console.log('|---|---|---|---|')
for (const [index, name] of names.entries()) {
  const column = (kind: keyof Cost) => median(rounds.map((costs) => costs[index]?.[kind] ?? 0))
  const ratio = median(rounds.map((costs) => (costs[index]?.compaction ?? 0) / (costs[0]?.compaction ?? 1)))
  console.log(`| ${name} | ${column('hash').toFixed(2)} | ${column('compaction').toFixed(2)} | ${ratio.toFixed(2)} |`)
}

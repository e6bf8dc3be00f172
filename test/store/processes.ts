/** A test for all stores: several processes write to one list, and some of them are killed. */

import { expect, onTestFinished, test } from 'bun:test'
import { parseListUrl } from '../../src/config/list-url.ts'
import { toIdentity } from '../../src/email.ts'
import { openStore } from '../../src/store/open.ts'
import type { Subscriber } from '../../src/subscriber.ts'
import { emailsOf, expectAscending, listAll, toAddress } from './suite.ts'

const ROUNDS = 150

/**
 * Declares the test for a kind of store.
 *
 * @param createUrl returns the URL of a new, empty list
 */
export function testProcesses(name: string, createUrl: () => Promise<string>): void {
  test(`${name}: four processes write and three are killed while a reader follows with its cursor`, async () => {
    const url = await createUrl()
    const store = await openStore(parseListUrl('URL', url), { access: 'create' })
    const confirmed: string[] = []
    const writers = [1, 2, 3, 4].map((seed) => runWriter(url, seed, confirmed))

    const seen: Subscriber[] = []
    const readNew = async () => {
      for await (const page of store.list(seen.at(-1)?.seq ?? 0)) seen.push(...page)
    }
    let isDone = false
    const ended = Promise.all(writers).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await readNew()
      await Bun.sleep(1)
    }
    await ended
    await readNew()

    const all = await listAll(store)
    await store.close()
    const listed = new Set(all.map(({ email }) => toIdentity(email)))
    const wanted = new Set(confirmed.map((text) => toIdentity(toAddress(text))))
    expect([...wanted].filter((identity) => !listed.has(identity))).toEqual([])
    expectAscending(all)
    expect(emailsOf(seen)).toEqual(emailsOf(all))
    // The last batch of each killed process may be on the list without a confirmation.
    expect(listed.size - wanted.size).toBeLessThanOrEqual(3 * 40)
  })
}

/** Runs a writer, and collects the addresses that it confirms. Kills the first three in the middle. */
async function runWriter(url: string, seed: number, confirmed: string[]): Promise<void> {
  const [killAfter, rounds] = seed < 4 ? [seed * 30, Number.POSITIVE_INFINITY] : [undefined, ROUNDS]
  const child = Bun.spawn([process.execPath, import.meta.path, url, String(seed), String(rounds)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  let done = 0
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    confirmed.push(...lines.flatMap((line) => line.split(' ')))
    done += lines.length
    if (killAfter !== undefined && done >= killAfter) child.kill('SIGKILL')
  }
  expect(await child.exited).toBe(killAfter === undefined ? 0 : 137)
}

// As a program: adds addresses to a list and prints those that were confirmed: `bun processes.ts URL SEED ROUNDS`.
if (import.meta.main) {
  const [url = '', seed = '1', rounds = '100'] = process.argv.slice(2)
  const store = await openStore(parseListUrl('URL', url), { access: 'create' })
  let state = Number(seed) * 7919
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
  for (let round = 0; round < Number(rounds); round++) {
    const batch = Array.from({ length: 1 + random(40) }, () => {
      const text = `user${random(4000)}@mail.io`
      return toAddress(random(3) > 0 ? text : text.toUpperCase())
    })
    await store.add(batch)
    process.stdout.write(`${batch.join(' ')}\n`)
    // A read compacts the inbox, so several processes compact at the same time.
    if (round % 10 === 9) await store.lookUp(batch.slice(0, 1))
  }
  await store.close()
}

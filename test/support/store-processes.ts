/** What several processes on one list are held to, some of which are killed. */

import { expect, test } from 'bun:test'
import { parseListUrl } from '../../src/config/list-url.ts'
import { toIdentity } from '../../src/email.ts'
import { openStore } from '../../src/store/open.ts'
import type { Subscriber } from '../../src/subscriber.ts'
import { toSupportFile } from './paths.ts'
import { emailsOf, expectAscending, listAll, toAddress } from './store-suite.ts'

const WRITER = toSupportFile('store-writer.ts')
const ROUNDS = 150

/**
 * Declares the test for a kind of store.
 *
 * @param createUrl gives the URL of a new, empty list
 */
export function testProcesses(name: string, createUrl: () => Promise<string>): void {
  test(`${name}: four processes write, three are killed, and an exporter goes on from its cursor`, async () => {
    const url = await createUrl()
    const store = await openStore(parseListUrl('URL', url))
    const confirmed: string[] = []
    const writers = [1, 2, 3, 4].map((seed) => follow(url, seed, confirmed))

    const seen: Subscriber[] = []
    const readOn = async () => {
      for await (const page of store.list({ after: seen.at(-1)?.seq ?? 0 })) seen.push(...page)
    }
    let isDone = false
    const done = Promise.all(writers.map(({ ended }) => ended)).then(() => {
      isDone = true
    })
    while (!isDone) {
      await readOn()
      await Bun.sleep(1)
    }
    await done
    await readOn()

    const all = await listAll(store)
    await store.close()
    const listed = new Set(all.map(({ email }) => toIdentity(email)))
    const wanted = new Set(confirmed.map((text) => toIdentity(toAddress(text))))
    expect([...wanted].filter((identity) => !listed.has(identity))).toEqual([])
    expectAscending(all)
    expect(emailsOf(seen)).toEqual(emailsOf(all))
    // What was not confirmed may be on the list, but only as the last word of each that was killed.
    expect(listed.size - wanted.size).toBeLessThanOrEqual(3 * 40)
  })
}

/** Starts a writer and keeps what it says was confirmed; the first three are killed in the middle. */
function follow(url: string, seed: number, confirmed: string[]) {
  const [killAfter, rounds] = seed < 4 ? [seed * 30, Number.POSITIVE_INFINITY] : [undefined, ROUNDS]
  const child = Bun.spawn([process.execPath, WRITER, url, String(seed), String(rounds)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })

  async function read(): Promise<void> {
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

  return { ended: read() }
}

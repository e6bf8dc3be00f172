/** Large lists: the memory that commands need for them, and the service meanwhile. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'

test('an import keeps its file in memory, and an export only a page of the list', async () => {
  const { folder, print, start, write } = await createCliFixture()
  const lines = Array.from({ length: 300_000 }, (_, index) => `user.${index}@site-${index % 101}.io\n`)
  await write('list.txt', lines.join(''))
  /** Runs a command, and returns the peak of its memory in MiB: of the last look before its end. */
  async function measure(...args: string[]): Promise<number> {
    const child = start(args)
    let kib = 0
    while (child.exitCode === null) {
      const status = await Bun.file(`/proc/${child.pid}/status`)
        .text()
        .catch(() => '')
      kib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? kib)
      await Bun.sleep(5)
    }
    expect(child.exitCode).toBe(0)
    return kib / 1024
  }

  // No lower limits, which would depend on the runtime: a look that saw nothing is 0.
  expect(await measure('import', 'list.txt')).toBeWithin(1, 300)
  // About 60 more with the whole list.
  expect(await measure('export', '--format', 'txt', '--out', 'out.txt')).toBeWithin(1, 130)
  expect(await print(['count'])).toBe(`${lines.length}\n`)
  const exported = readFileSync(join(folder, 'out.txt'), 'utf8').split(/(?<=\n)/)
  expect(exported.sort().join('') === lines.sort().join('')).toBe(true)
})

test('during a large import, a service accepts every address, and each is on the list once', async () => {
  const service = await startService()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  const { print, rows } = await createCliFixture()
  const size = 50_000
  const text = Array.from({ length: size }, (_, index) => `user.${index}@site.io\n`).join('')
  let isDone = false
  /** Posts one address after the other; half of them are in the file too. */
  async function postUntilDone(client: number): Promise<void> {
    for (let turn = 0; !isDone; turn++) {
      const email = turn % 2 ? `user.${turn * 7 + client}@site.io` : `client.${client}.${turn}@site.io`
      const { status } = await service.subscribe(email)
      expect(status, service.log()).toBe(200)
    }
  }
  const clients = Array.from({ length: 8 }, (_, client) => postUntilDone(client))
  const { added, already_listed } = JSON.parse(await print(['import', '-', '--json', '--list', list], text))
  isDone = true
  await Promise.all(clients)

  expect(added + already_listed).toBe(size)
  const emails = (await rows(list)).map(({ email }) => email)
  expect(new Set(emails).size).toBe(emails.length)
  expect(emails.filter((email) => email.startsWith('user.'))).toHaveLength(size)
  await service.stop()
})

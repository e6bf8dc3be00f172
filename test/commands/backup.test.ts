/** `backup`. files.test.ts has what it does not replace. */

import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

test('the copy has all addresses of one moment while the service writes', async () => {
  const service = await startService()
  const { folder, rows, run } = await createCliFixture()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  let sent = 0
  let isDone = false
  const write = async () => {
    for (; !isDone; sent++) expect((await service.subscribe(`user.${sent}@site.io`)).status).toBe(200)
  }
  const writers = [write(), write(), write()]
  await until(() => sent >= 200)
  const { code, stdout } = await run(['backup', 'copy.db', '--json', '--list', list])
  isDone = true
  await Promise.all(writers)
  expect(code).toBe(0)
  const { subscribers } = JSON.parse(stdout) as { subscribers: number }
  // Those before the start are counted, and later ones may be in the copy too.
  expect(subscribers).toBeGreaterThanOrEqual(200)
  const copy = await rows(`sqlite:${folder}/copy.db`)
  expect(copy.length).toBeGreaterThanOrEqual(subscribers)
  expect((await rows(list)).slice(0, copy.length)).toEqual([...copy])
  expect(await readdir(folder)).toEqual(['copy.db'])
  await service.stop()
})

/** The writer thread crashes: requests get 500 until the service has started it again, and no address is lost. */

import { expect, test } from 'bun:test'
import { mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { readList, toListFile } from '../../support/list-file.ts'
import { createLedger, expectKept, post } from '../../support/load.ts'
import { toSupportFile } from '../../support/paths.ts'
import { createFolder, type RunningService, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'

function startCrashing(folder: string): Promise<RunningService> {
  const preload = toSupportFile('crashing-writer.ts')
  return startService({ folder, env: { BUN_OPTIONS: `--preload ${preload}` } })
}

/** Posts an address until the service accepts it. */
async function subscribeAgain({ subscribe }: RunningService, email: string): Promise<void> {
  while ((await subscribe(email)).status !== 200) await Bun.sleep(2)
}

/** Replaces the list by a folder, and ends the writer thread. */
async function loseList({ folder, process, logged }: RunningService): Promise<void> {
  const file = toListFile(folder)
  await rename(file, `${file}.away`)
  await mkdir(file)
  process.kill('SIGUSR2')
  await logged(`cannot open the list ${file}: it is a folder`)
}

test.concurrent('the thread crashes under load, again and again', async () => {
  const folder = await createFolder()
  const service = await startCrashing(folder)
  const ledger = createLedger()
  for (let crash = 1; crash <= 4; crash++) {
    const goal = ledger.answered + 500
    const load = post(service, ledger)
    await until(() => ledger.answered >= goal)
    service.process.kill('SIGUSR2')
    await load
    expect(ledger.failed).toBeGreaterThan(0)
    await until(() => service.log().match(/the writer thread has ended; it starts again/g)?.length === crash)
    await subscribeAgain(service, [...ledger.acknowledged][0]!)
  }
  expect(await service.stop()).toBe(0)
  await expectKept(folder, ledger)
  await rm(folder, { recursive: true })
})

test.concurrent('the thread crashes, and the list is missing for a while', async () => {
  const folder = await createFolder()
  const service = await startCrashing(folder)
  const file = toListFile(folder)
  expect((await service.subscribe('before@example.org')).status).toBe(200)
  await loseList(service)
  expect((await service.subscribe('meanwhile@example.org')).status).toBe(500)
  expect((await service.request('/openapi.json')).status).toBe(200)

  await rmdir(file)
  await rename(`${file}.away`, file)
  await service.logged('the store has recovered')
  expect((await service.subscribe('after@example.org')).status).toBe(200)
  expect(await service.stop()).toBe(0)
  expect(await readList(folder)).toEqual(['before@example.org', 'after@example.org'])
  await rm(folder, { recursive: true })
})

test.concurrent('the service stops while the thread is down', async () => {
  const folder = await createFolder()
  const service = await startCrashing(folder)
  expect((await service.subscribe('before@example.org')).status).toBe(200)
  await loseList(service)
  expect(await service.stop()).toBe(0)
  await rm(folder, { recursive: true })
})

/**
 * The files of the list are deleted, moved or replaced while the service runs. From then on no request gets a 200, and
 * what was confirmed before is in a rescue file.
 */

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENTS, RESPONSES } from '../support/contract.ts'
import { giveSpace, SMALL_DISK, takeSpace } from '../support/disk.ts'
import { readListFile, toListFile } from '../support/list-file.ts'
import { createLedger, postUntilFailure } from '../support/load.ts'
import { type Environment, type RunningService, runCommand, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

interface Scene extends RunningService {
  readonly file: string
  /** Returns the status of /readyz. */
  readyz(): Promise<number>
  /** The rescue files. */
  rescued(): readonly string[]
}

/** Starts a service in a folder of its own. */
async function startScene(env: Environment = {}, launcher: readonly string[] = []): Promise<Scene> {
  const folder = await realpath(await createFolder())
  const service = await startService({ folder, launcher, env: { OPS_PORT: '0', ...env } })
  return {
    ...service,
    file: toListFile(folder),
    readyz: async () => (await service.ops('/readyz')).status,
    rescued: () =>
      readdirSync(folder, { recursive: true })
        .map((name) => join(folder, String(name)))
        .filter((name) => /\/rollcall\.rescue-[^/]*\.db$/.test(name)),
  }
}

const deleteFiles = ({ file }: Scene) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix)
}

/** What makes a service lose its list. */
const LOSSES: Readonly<Record<string, (scene: Scene) => void | Promise<void>>> = {
  'its files are deleted': deleteFiles,
  // Moved away first: while the folder is deleted file by file, the service may write the rescue file into it.
  'its folder is deleted': ({ folder }) => {
    renameSync(join(folder, 'data'), join(folder, 'gone'))
    rmSync(join(folder, 'gone'), { recursive: true })
  },
  'a file is in the place of its folder': ({ folder }) => {
    renameSync(join(folder, 'data'), join(folder, 'gone'))
    writeFileSync(join(folder, 'data'), '')
  },
  'it alone is renamed': ({ file }) => renameSync(file, `${file}.old`),
  'another list is moved over it': async ({ folder, file }) => {
    const other = join(folder, 'other.db')
    await runCommand(['import', '-', '--list', `sqlite:${other}`], { stdin: 'other@site.io\n' })
    renameSync(other, file)
  },
  'its log (WAL) is deleted': ({ file }) => rmSync(`${file}-wal`),
  'its log (WAL) is replaced': ({ file }) => {
    copyFileSync(`${file}-wal`, `${file}-copy`)
    renameSync(`${file}-copy`, `${file}-wal`)
  },
}

test.each(Object.entries(LOSSES))('under load, %s: a rescue file has each address with a 200', async (_, lose) => {
  const scene = await startScene()
  const ledger = createLedger()
  const goal = 200 + Math.floor(Math.random() * 500)
  const load = postUntilFailure(scene, ledger)
  await until(() => ledger.answered >= goal, `${goal} requests get a 200`)
  await lose(scene)
  const isThere = existsSync(scene.file)
  ledger.sent.add('late@site.io')
  const { status, body } = await scene.subscribe('late@site.io')
  expect([status, body]).toEqual([500, RESPONSES.store_failed.body])
  await load
  expect(await scene.readyz()).toBe(503)
  expect((await scene.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
  await scene.logged('the addresses of the open file are in')
  expect(scene.log()).toMatch(/"level":50.*the list is lost: .*the store fails/)
  // While its files go one after the other, two commits may miss two of them.
  const errors = scene.log().match(/^\{"level":50.*/gm) ?? []
  expect(errors.filter((line) => !line.includes('the list is lost'))).toEqual([])
  const [rescue = '', ...others] = scene.rescued()
  expect([others, statSync(rescue).mode & 0o777, scene.log().includes(rescue)]).toEqual([[], 0o600, true])
  const rescued = new Set(await readListFile(rescue))
  expect([...ledger.acknowledged].filter((email) => !rescued.has(email))).toEqual([])
  expect([...rescued].filter((email) => !ledger.sent.has(email))).toEqual([])
  expect(await scene.stop()).toBe(0)
  expect(existsSync(scene.file)).toBe(isThere)
})

test.concurrent('a loss that the stop notices: there is a rescue file, and doctor names it', async () => {
  const scene = await startScene()
  expect((await scene.subscribe('ada@site.io')).status).toBe(200)
  deleteFiles(scene)
  expect(await scene.stop()).toBe(0)
  const [rescue = ''] = scene.rescued()
  expect(await readListFile(rescue)).toEqual(['ada@site.io'])
  const { code, stdout } = await runCommand(['doctor', '--list', `sqlite:${scene.file}`])
  expect(code).toBe(1)
  expect(stdout).toContain(`${rescue}: when the list was lost, this kept its addresses`)
})

test.concurrent('no rescue file can be written: the log says so', async () => {
  const scene = await startScene({ DATABASE_URL: 'sqlite:deep/data/rollcall.db' })
  expect((await scene.subscribe('ada@site.io')).status).toBe(200)
  rmSync(join(scene.folder, 'deep'), { recursive: true })
  expect((await scene.subscribe('bob@site.io')).status).toBe(500)
  await scene.logged('the open file cannot be copied: ')
  expect(scene.log()).toMatch(
    /cannot be copied: \S+: there is no such file or folder; correct that, and stop the service/,
  )
  expect(await scene.stop()).toBe(0)
  expect(scene.log()).toMatch(/cannot be copied: \S+: there is no such file or folder; its addresses are lost/)
})

test.concurrent('the disk is full when the list is lost: the stop tries again', async () => {
  const scene = await startScene({}, SMALL_DISK)
  expect((await scene.subscribe('ada@site.io')).status).toBe(200)
  takeSpace(scene.process.pid)
  deleteFiles(scene)
  expect((await scene.subscribe('bob@site.io')).status).toBe(500)
  await scene.logged('the open file cannot be copied: ')
  // Each address and each probe would try otherwise.
  expect((await scene.subscribe('bob@site.io')).status).toBe(500)
  expect(scene.log().match(/cannot be copied/g)).toHaveLength(1)
  expect(scene.rescued()).toEqual([])
  giveSpace(scene.process.pid)
  expect(await scene.stop()).toBe(0)
  expect(scene.log()).toContain(`the addresses of the open file are in ${scene.rescued()}`)
  expect(await readListFile(scene.rescued()[0] ?? '')).toEqual(['ada@site.io'])
})

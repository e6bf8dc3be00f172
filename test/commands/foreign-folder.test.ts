/** A command may start in the folder of another program. Its .env and bunfig.toml are not ours; test/build/ has the executable. */

import { expect, onTestFinished, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../support/paths.ts'
import { createFolder, runCommand, startService, writeForeignFiles } from '../support/service.ts'

async function createForeignFolder(): Promise<string> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeForeignFiles(folder)
  return folder
}

test('the launcher reads none of them', async () => {
  const folder = await createForeignFolder()
  expect(await runCommand(['count'], { folder, program: [join(ROOT, 'bin/rollcall')] })).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: there is no list at ${folder}/data/rollcall.db\n`,
  })
})

test('npm start reads none of them', async () => {
  const folder = await createForeignFolder()
  for (const name of ['package.json', 'node_modules', 'src']) symlinkSync(join(ROOT, name), join(folder, name))
  const service = await startService({ folder, command: ['npm', 'start'] })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  await service.stop()
})

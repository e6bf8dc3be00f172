/** A file that a command writes: readable by its owner only, and gone when the command fails. */

import { expect, onTestFinished, test } from 'bun:test'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileSink, replaceFile } from '../../../src/transfer/writing/sink.ts'
import { createFolder } from '../../support/service.ts'

async function createPlace(): Promise<string> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('only the owner can read a new file, while it is written and afterwards', async () => {
  const folder = await createPlace()
  const sink = await createFileSink(join(folder, 'list.csv'))
  const [partial = ''] = await readdir(folder)
  await sink.write('email\r\n')
  expect((await stat(join(folder, partial))).mode & 0o777).toBe(0o600)
  await sink.finish()
  expect((await stat(join(folder, 'list.csv'))).mode & 0o777).toBe(0o600)
})

test('a file that cannot get its name leaves nothing', async () => {
  const folder = await createPlace()
  // A folder has the name already.
  await mkdir(join(folder, 'cursor'))
  await expect(replaceFile(join(folder, 'cursor'), '7\n')).rejects.toThrow()
  expect(await readdir(folder)).toEqual(['cursor'])
})

test('a file that is discarded leaves nothing, and the one before stays', async () => {
  const folder = await createPlace()
  await writeFile(join(folder, 'list.csv'), 'before')
  const sink = await createFileSink(join(folder, 'list.csv'))
  await sink.write('after')
  await sink.discard()
  expect(await readdir(folder)).toEqual(['list.csv'])
  expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('before')
})

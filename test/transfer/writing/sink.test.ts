/** A file that a command writes: readable by its owner only, and gone when the command fails. */

import { expect, onTestFinished, test } from 'bun:test'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkTarget } from '../../../src/complete-file.ts'
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

test('a target that cannot be written is refused at once, and the check leaves nothing', async () => {
  const folder = await createPlace()
  await expect(checkTarget(folder)).rejects.toThrow(`${folder}: it is a folder`)
  await expect(checkTarget(join(folder, 'none/list.csv'))).rejects.toThrow('there is no such file or folder')
  await writeFile(join(folder, 'list.csv'), 'before')
  await checkTarget(join(folder, 'list.csv'))
  expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('before')
  expect(await readdir(folder)).toEqual(['list.csv'])
})

test('the temporary files of killed processes are removed, and no other file', async () => {
  const folder = await createPlace()
  const ended = Bun.spawnSync(['true']).pid
  const killed = [
    `.list.csv.${ended}.partial`,
    `.list.csv.${ended}.partial-journal`,
    `.list.csv.${process.pid}.partial`,
  ]
  const others = [
    `.list.csv.${process.ppid}.partial`,
    `.other.csv.${ended}.partial`,
    `.list.csv.${ended}x.partial`,
    `.list.csv.${ended}.partial.txt`,
    `list.csv.${ended}.partial`,
    `.listxcsv.${ended}.partial`,
  ]
  for (const name of [...killed, ...others]) await writeFile(join(folder, name), '')
  await replaceFile(join(folder, 'list.csv'), 'email')
  expect((await readdir(folder)).toSorted()).toEqual([...others, 'list.csv'].toSorted())
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

/** What a command writes: complete, private, and never in the place of a list, a device, a FIFO or a link. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkOutput, findFile, openOutput, readFileStart, replaceFile } from '../src/files.ts'
import { createFolder } from './support/service.ts'
import { within } from './support/wait.ts'

async function createPlace() {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const createDatabase = (name: string) => {
    using db = new Database(at(name), { create: true })
    db.run('PRAGMA journal_mode = DELETE')
    db.run('CREATE TABLE t (a)')
  }
  createDatabase('list.db')
  return { folder, at, createDatabase, list: { kind: 'sqlite', file: at('list.db') } as const }
}

async function writeFile(...args: Parameters<typeof openOutput>): Promise<void> {
  const output = await openOutput(...args)
  await output.write('new')
  await output.finish()
}

test('only the owner can read a file, while it is written and afterwards; it replaces a regular file', async () => {
  const { folder, at } = await createPlace()
  writeFileSync(at('list.csv'), 'before')
  const output = await openOutput(at('list.csv'))
  await output.write('new')
  const partial = readdirSync(folder).find((name) => name.endsWith('.partial')) ?? ''
  expect(statSync(at(partial)).mode & 0o777).toBe(0o600)
  expect(readFileSync(at('list.csv'), 'utf8')).toBe('before')
  await output.finish()
  expect([readFileSync(at('list.csv'), 'utf8'), statSync(at('list.csv')).mode & 0o777]).toEqual(['new', 0o600])
  expect(readdirSync(folder).toSorted()).toEqual(['list.csv', 'list.db'])
})

test('a file that is discarded leaves nothing, and the one before stays', async () => {
  const { folder, at } = await createPlace()
  writeFileSync(at('list.csv'), 'before')
  const output = await openOutput(at('list.csv'))
  await output.write('after')
  await output.discard()
  expect(readFileSync(at('list.csv'), 'utf8')).toBe('before')
  expect(readdirSync(folder).toSorted()).toEqual(['list.csv', 'list.db'])
})

test('the list, its files, its other names and any SQLite database are refused with exit code 2', async () => {
  const { at, list, createDatabase } = await createPlace()
  createDatabase('other.db')
  linkSync(at('list.db'), at('hard.db'))
  symlinkSync('list.db', at('soft.db'))
  symlinkSync('list.db-wal', at('dangling'))
  mkdirSync(at('sub'))
  writeFileSync(at('log'), Buffer.from('377f068200', 'hex'))
  const names = [
    'list.db',
    'sub/../list.db',
    'hard.db',
    'soft.db',
    'list.db-wal',
    'list.db-journal',
    'dangling',
    'other.db',
    'log',
  ]
  const before = readFileSync(at('list.db'))
  for (const name of names) {
    for (const check of [checkOutput, findFile, writeFile]) {
      expect(await check(at(name), list).catch((error: unknown) => error), name).toMatchObject({ exitCode: 2 })
    }
  }
  expect(readFileSync(at('list.db'))).toEqual(before)
  expect(existsSync(at('list.db-wal'))).toBe(false)
})

test('the target of a backup may be another database, but not the list, and not one that a program uses', async () => {
  const { at, list, createDatabase } = await createPlace()
  createDatabase('old.db')
  expect(await findFile(at('old.db'), list, { isBackup: true })).toEndWith('old.db')
  expect(await findFile(at('list.db'), list, { isBackup: true }).catch(String)).toContain('belongs to the list')
  using used = new Database(at('used.db'), { create: true })
  used.run('PRAGMA journal_mode = WAL')
  used.run('CREATE TABLE t (a)')
  expect(await findFile(at('used.db'), list, { isBackup: true }).catch(String)).toContain('a program uses it')
  writeFileSync(at('gone.db-wal'), 'log')
  expect(await findFile(at('gone.db'), list, { isBackup: true }).catch(String)).toContain('gone.db-wal')
})

test('a link is followed, also to a file that does not exist yet', async () => {
  const { at } = await createPlace()
  mkdirSync(at('sub'))
  writeFileSync(at('sub/list.csv'), 'before')
  symlinkSync('sub/list.csv', at('link'))
  symlinkSync('sub/none.csv', at('dangling'))
  symlinkSync('loop', at('loop'))
  await writeFile(at('link'))
  await writeFile(at('dangling'))
  expect(readFileSync(at('sub/list.csv'), 'utf8')).toBe('new')
  expect(readFileSync(at('sub/none.csv'), 'utf8')).toBe('new')
  expect(readFileSync(at('link'), 'utf8')).toBe('new')
  await expect(writeFile(at('loop'))).rejects.toThrow('it is a link to itself')
})

test('a device and a FIFO are written through; a cursor and a backup do not go there', async () => {
  const { folder, at } = await createPlace()
  await writeFile('/dev/null')
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  await Bun.$`mkfifo ${at('fifo')}`
  const reader = Bun.spawn(['cat', at('fifo')], { stdout: 'pipe' })
  onTestFinished(() => reader.kill())
  await writeFile(at('fifo'))
  expect(await within(reader.stdout.text(), 'the reader of the FIFO')).toBe('new')
  expect(statSync(at('fifo')).isFIFO()).toBe(true)
  for (const name of ['/dev/null', at('fifo')]) {
    expect(await findFile(name).catch(String)).toContain('is not a regular file')
  }
  expect(readdirSync(folder).toSorted()).toEqual(['fifo', 'list.db'])
})

test('what cannot be written fails before the work, and leaves nothing', async () => {
  const { folder, at } = await createPlace()
  for (const check of [checkOutput, findFile, openOutput]) {
    await expect(check(folder)).rejects.toThrow(`${folder}: it is a folder`)
    await expect(check(at('none/list.csv'))).rejects.toThrow('there is no such file or folder')
    await expect(check(at('list.db/list.csv'))).rejects.toThrow('a part of its path is not a folder')
  }
  expect(readdirSync(folder)).toEqual(['list.db'])
})

test('the temporary files of killed processes are removed, and no other file', async () => {
  const { folder, at } = await createPlace()
  const ended = Bun.spawnSync(['true']).pid
  const killed = [`.list.csv.${ended}.partial`, `.list.csv.${ended}.partial-journal`]
  const others = [
    `.list.csv.${process.ppid}.partial`,
    `.other.csv.${ended}.partial`,
    `.list.csv.${ended}x.partial`,
    `.list.csv.${ended}.partial.txt`,
    `list.csv.${ended}.partial`,
    `.listxcsv.${ended}.partial`,
  ]
  for (const name of [...killed, ...others]) writeFileSync(at(name), '')
  await replaceFile(at('list.csv'), 'email')
  expect(readdirSync(folder).toSorted()).toEqual([...others, 'list.csv', 'list.db'].toSorted())
})

test('what is read is bounded', async () => {
  const { folder, at } = await createPlace()
  writeFileSync(at('long'), 'x'.repeat(100_000))
  expect(readFileStart(at('long'), 64)).toBe('x'.repeat(64))
  expect(readFileStart(at('none'), 64)).toBeUndefined()
  expect(() => readFileStart('/dev/zero', 64)).toThrow('/dev/zero: it is not a regular file')
  expect(() => readFileStart(folder, 64)).toThrow('it is a folder')
})

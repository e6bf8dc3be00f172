/** Errors that the command line prints. */

import { expect, test } from 'bun:test'
import { linkSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { Failure, toFileFailure, UsageError } from '../src/failure.ts'
import { createFolder } from './support/workspace.ts'

test('a message is one line, without control characters', () => {
  expect(new Failure('a\nb\r\tc\0d\x1b[31me\x7f\x9bf\u2028g\u2029h').message).toBe(
    'a\\u000ab\\u000d\\u0009c\\u0000d\\u001b[31me\\u007f\\u009bf\\u2028g\\u2029h',
  )
  expect(new UsageError('Jürgen\n').message).toBe('Jürgen\\u000a')
})

test('EPIPE is a failure without a message, and an error that is not of the system is returned unchanged', () => {
  const pipe = Object.assign(new Error('broken pipe'), { code: 'EPIPE' })
  expect(toFileFailure(pipe, 'standard output')).toMatchObject({ message: '', exitCode: 141 })
  const defect = Object.assign(new TypeError('a defect'), { code: 'ERR_INVALID_ARG_TYPE' })
  for (const other of [defect, 'a defect', undefined]) expect(toFileFailure(other, 'list.csv')).toBe(other)
})

test('each error of the system has words, also one that the runtime does not know', () => {
  const messages = Object.entries(constants.errno).map(([code, errno]) => {
    const error = Object.assign(new Error(code), { code, errno: -errno, syscall: 'write' })
    return (toFileFailure(error, 'o.csv') as Failure).message
  })
  expect(messages.filter((message) => /unknown/i.test(message))).toEqual([])
  expect(messages).toContain('o.csv: the quota of the disk is used up')
  expect(messages).toContain('o.csv: the system reports EBADMSG')
})

test('a path that is taken says whether it had to be a folder', async () => {
  const file = join(await createFolder(), 'list.csv')
  writeFileSync(file, '')
  const refuse = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      return toFileFailure(error, 'list')
    }
    return undefined
  }
  const noFolder = `list: ${file} is not a folder: correct the path`
  expect(refuse(() => mkdirSync(file, { recursive: true }))).toMatchObject({ message: noFolder })
  expect(refuse(() => openSync(join(file, 'x'), 'wx'))).toMatchObject({ message: noFolder })
  const isThere = `list: ${file} exists already: move it to another folder`
  expect(refuse(() => openSync(file, 'wx'))).toMatchObject({ message: isThere })
  // A new name for another file: the taken one is named.
  const other = join(file, '../other.csv')
  writeFileSync(other, '')
  expect(refuse(() => linkSync(other, file))).toMatchObject({ message: isThere })
})

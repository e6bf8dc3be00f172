/** Errors that the command line prints. */

import { expect, test } from 'bun:test'
import { Failure, toFileFailure, UsageError } from '../src/failure.ts'

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

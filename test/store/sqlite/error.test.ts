/** What the errors of SQLite mean in words. The real errors of a disk are in test/service/disk.test.ts. */

import { expect, test } from 'bun:test'
import { toReason } from '../../../src/store/sqlite/error.ts'

const BROKEN = 'the disk reports an error'
const BROKEN_OR_LIMIT = `${BROKEN}, or a quota or a limit on the size of a file is reached`

test.each([
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', BROKEN],
  ['SQLITE_IOERR_READ', BROKEN],
  ['SQLITE_CORRUPT', 'it is damaged, or the disk cannot read it'],
  ['SQLITE_IOERR_CORRUPTFS', 'it is damaged, or the disk cannot read it'],
  ['SQLITE_IOERR_FSYNC', BROKEN],
  ['SQLITE_IOERR_DIR_FSYNC', BROKEN],
  ['SQLITE_IOERR_SHMMAP', BROKEN],
  ['SQLITE_IOERR_WRITE', BROKEN_OR_LIMIT],
  ['SQLITE_IOERR_TRUNCATE', BROKEN_OR_LIMIT],
  ['SQLITE_IOERR_SHMSIZE', 'the disk is full or reports an error'],
  ['SQLITE_IOERR_LOCK', 'its file system cannot lock it'],
  ['SQLITE_IOERR_SHMLOCK', 'its file system cannot lock it'],
  ['SQLITE_IOERR_NOMEM', 'no memory is left'],
  ['SQLITE_NOMEM', 'no memory is left'],
])('%s: %s', (code, reason) => {
  expect(toReason(Object.assign(new Error(), { code }))).toBe(reason)
})

/** The file in which an export or a copy saves its cursor. */

import { readFile } from 'node:fs/promises'
import { Failure, toErrorCode, toFileFailure } from '../failure.ts'

/** Reads the cursor in a file; 0 when there is no such file. @throws Failure when the file holds anything else */
export async function readCursorFile(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (toErrorCode(error) === 'ENOENT') return '0'
    throw toFileFailure(error, file)
  })
  if (!/^\d{1,15}\n?$/.test(text)) throw new Failure(`${file}: it does not hold a cursor, which is a number`)
  return Number(text)
}

/** The file in which an export keeps how far it has come. */

import { readFile } from 'node:fs/promises'
import { Failure, toFileFailure } from '../failure.ts'

/** The cursor in a file; 0 where there is none yet. @throws Failure when it holds anything else */
export async function readCursorFile(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '0'
    throw toFileFailure(error, file)
  })
  if (!/^\d{1,15}\n?$/.test(text)) throw new Failure(`${file}: it holds no cursor, which is a number`)
  return Number(text)
}

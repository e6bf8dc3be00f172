/** Standard output, and files without a name. */

import { open, rm } from 'node:fs/promises'
import { toFileFailure } from '../../failure.ts'
import { createPartialFile, type Output, writeAll } from '../../files.ts'

/** Standard output. A write rejects with a Failure without a message when the reader is gone. */
export function createStdout(): Output {
  return {
    write: (text) => writeAll(process.stdout.fd, text, 'standard output'),
    async finish() {},
    async discard() {},
  }
}

/** A file that has no name any more. It goes away with the last process that has it open, however that ends. */
export interface UnnamedFile {
  /** A file descriptor that reads from the start of the file. */
  readonly descriptor: number
  write(text: string): Promise<void>
  close(): Promise<void>
}

/**
 * Creates an unnamed file in the folder of `neighbor`.
 *
 * @throws Failure when the folder cannot be written
 */
export async function createUnnamedFile(neighbor: string): Promise<UnnamedFile> {
  const path = await createPartialFile(neighbor)
  try {
    await using handles = new AsyncDisposableStack()
    const writer = handles.use(await open(path, 'r+'))
    const reader = handles.use(await open(path, 'r'))
    await rm(path)
    const opened = handles.move()
    return {
      descriptor: reader.fd,
      write: (text) => writeAll(writer.fd, text, neighbor),
      close: () => opened.disposeAsync(),
    }
  } catch (error) {
    throw toFileFailure(error, neighbor)
  }
}

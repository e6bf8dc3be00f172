/** Where a command writes: standard output, or a file that appears only when it is complete. */

import { write } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createPartialFile, renameSynced } from '../../complete-file.ts'
import { toErrorCode, toFileFailure } from '../../failure.ts'

export interface Sink {
  /** Resolves when all of the text is written; waits for a slow reader. */
  write(text: string): Promise<void>
  /** Resolves when what was written is in its place; a file is then on stable storage. */
  finish(): Promise<void>
  /** Removes what was written, also after `finish` has failed. */
  discard(): Promise<void>
}

const writeSome = promisify(write)

/** Milliseconds until the next attempt to write to a full pipe that is in non-blocking mode. */
const RETRY_MS = 5

/** Standard output. A write rejects with a Failure without a message when the reader is gone. */
export function createStdout(): Sink {
  return {
    write: (text) => writeAll(process.stdout.fd, text, 'standard output'),
    async finish() {},
    async discard() {},
  }
}

/**
 * Opens a temporary file next to `file`. `finish` syncs and renames it, so a reader of `file` never sees a part of it.
 *
 * @throws Failure when the folder cannot be written
 */
export async function createFileSink(file: string): Promise<Sink> {
  const partial = await createPartialFile(file)
  const handle = await open(partial, 'r+')
  return {
    write: (text) => writeAll(handle.fd, text, file),
    async finish() {
      await handle.close()
      await renameSynced(partial, file)
    },
    async discard() {
      await handle.close()
      await rm(partial, { force: true })
    },
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

/** Replaces the content of a file, completely or not at all. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const sink = await createFileSink(file)
  try {
    await sink.write(text)
    await sink.finish()
  } catch (error) {
    await sink.discard()
    throw error
  }
}

async function writeAll(descriptor: number, text: string, name: string): Promise<void> {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      const { bytesWritten } = await writeSome(descriptor, bytes)
      bytes = bytes.subarray(bytesWritten)
    } catch (error) {
      if (toErrorCode(error) !== 'EAGAIN') throw toFileFailure(error, name)
      await sleep(RETRY_MS)
    }
  }
}

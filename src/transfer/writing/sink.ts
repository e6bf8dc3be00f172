/** Where a command writes to: standard output, or a file that takes its name only when it is whole. */

import { close, fsync, open, write } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { BrokenPipe, toFileFailure } from '../../failure.ts'

export interface Sink {
  /** Resolves when the text has been taken over, whole; waits for a slow reader. */
  write(text: string): Promise<void>
  /** Everything has been written: resolves when it is where it belongs. */
  finish(): Promise<void>
  /** Nothing came of it: leaves nothing behind. */
  discard(): Promise<void>
}

const openFile = promisify(open)
const writeFile = promisify(write)
const syncFile = promisify(fsync)
const closeFile = promisify(close)

/** How long to wait, in milliseconds, where standard output was handed over non-blocking and is full. */
const RETRY_MS = 5

/** Standard output. Its write rejects with BrokenPipe when the reader has gone. */
export function createStdout(): Sink {
  return {
    write: (text) => writeAll(process.stdout.fd, text, 'standard output'),
    async finish() {},
    async discard() {},
  }
}

/**
 * Opens a file beside its name, synced and renamed at the end, so that what stands under the name is always whole.
 *
 * @throws Failure when its folder cannot be written
 */
export async function createFileSink(file: string): Promise<Sink> {
  const partial = toPartialName(file)
  const descriptor = await openFile(partial, 'w', 0o600).catch((error: unknown) => {
    throw toFileFailure(error, file)
  })
  return {
    write: (text) => writeAll(descriptor, text, file),
    async finish() {
      await closeFile(descriptor)
      await renameSynced(partial, file)
    },
    async discard() {
      await closeFile(descriptor)
      await rm(partial, { force: true })
    },
  }
}

/** Replaces a file by a text, whole or not at all. */
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

/** The name beside a file under which it is written. */
export function toPartialName(file: string): string {
  return join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
}

/** Gives a file its name once all of it is on stable storage; the name is, when its folder is. */
export async function renameSynced(partial: string, file: string): Promise<void> {
  await syncPath(partial)
  await rename(partial, file)
  await syncPath(dirname(file))
}

async function syncPath(path: string): Promise<void> {
  const descriptor = await openFile(path, 'r')
  try {
    await syncFile(descriptor)
  } finally {
    await closeFile(descriptor)
  }
}

async function writeAll(descriptor: number, text: string, name: string): Promise<void> {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      const { bytesWritten } = await writeFile(descriptor, bytes)
      bytes = bytes.subarray(bytesWritten)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'EPIPE') throw new BrokenPipe()
      if (code !== 'EAGAIN') throw toFileFailure(error, name)
      await sleep(RETRY_MS)
    }
  }
}

/** The bytes of a file or of standard input. A file can be read again; a pipe needs a copy for that. */

import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toFileFailure } from '../../failure.ts'

/** A file, or standard input. */
export interface Input {
  /** Its name in messages. */
  readonly name: string
  /** Bytes; undefined when the size is not known, as of a pipe. */
  readonly size: number | undefined
  /** The bytes from the start. Of a pipe, only the first can be read again. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Whether the bytes can be read any number of times. */
  readonly isFile: boolean
}

/** A copy of an input. */
export interface InputCopy extends Input {
  close(): Promise<void>
}

const CHUNK_BYTES = 256 * 1024

/** What is kept of a pipe: enough for the header, whose length is limited by MAX_ROW_LENGTH. */
const HEAD_BYTES = 8 * 1024 * 1024

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws Failure when the file cannot be found; reading it throws one when it is a folder or may not be read
 */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') {
    return { name: 'standard input', size: undefined, chunks: createReplay(process.stdin), isFile: false }
  }
  const stats = await stat(file).catch((error: unknown) => {
    throw toFileFailure(error, file)
  })
  if (!stats.isFile()) return { name: file, size: undefined, chunks: createReplay(readFile(file)), isFile: false }
  return { name: file, size: stats.size, chunks: { [Symbol.asyncIterator]: () => readFile(file) }, isFile: true }
}

/**
 * Copies an input, so that it can be read again. The copy has no name in the file system, so nothing is left when the
 * process is killed.
 */
export async function copyInput({ name, chunks }: Input): Promise<InputCopy> {
  const path = join(tmpdir(), `rollcall-${crypto.randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600).catch((error: unknown) => {
    throw toFileFailure(error, tmpdir())
  })
  try {
    await rm(path)
    for await (const chunk of chunks) await append(handle, chunk)
  } catch (error) {
    await handle.close()
    throw toFileFailure(error, tmpdir())
  }
  const { size } = await handle.stat()
  return {
    name,
    size,
    chunks: { [Symbol.asyncIterator]: () => readHandle(handle) },
    isFile: true,
    close: () => handle.close(),
  }
}

async function* readFile(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: CHUNK_BYTES })
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

async function* readHandle(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

async function append(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written)).bytesWritten
  }
}

/** Makes the start of a stream readable again: readers may stop in the first HEAD_BYTES, until one reads on. */
function createReplay(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const rest = stream[Symbol.asyncIterator]()
  let head: Uint8Array[] = []
  let bytes = 0

  async function* read(): AsyncGenerator<Uint8Array> {
    if (bytes > HEAD_BYTES) throw new Error('the stream was read')
    yield* head
    for (;;) {
      const { value, done } = await rest.next()
      if (done) return
      bytes += value.length
      if (bytes > HEAD_BYTES) head = []
      else head.push(value)
      yield value
    }
  }

  return { [Symbol.asyncIterator]: read }
}

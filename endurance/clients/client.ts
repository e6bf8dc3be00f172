/** Runs a client as a process of its own, so that its work does not delay what the trial measures. */

import { fileURLToPath } from 'node:url'

export interface Client {
  /** The lines of JSON that it writes, one after the other. */
  readonly lines: AsyncGenerator<unknown>
  readonly ended: Promise<number>
  /** Ends it. */
  stop(): void
}

/**
 * Starts a client.
 *
 * @param name its file in this folder, without the extension
 * @param by a command that runs it, such as one that sets limits
 */
export function startClient(name: string, options: unknown, by: readonly string[] = []): Client {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const child = Bun.spawn([...by, process.execPath, file, JSON.stringify(options)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    lines: readLines(child.stdout),
    ended: child.exited.finally(() => process.off('exit', kill)),
    stop: () => void child.kill(),
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}

/** Runs shell commands, to their end or in the background. */

import { spawn } from 'node:child_process'

export interface Output {
  readonly stdout: string
  readonly stderr: string
}

/** A shell with a process group of its own. */
export interface Shell {
  /** Waits for the end. @throws with all of its output when the exit code is not 0 */
  end(): Promise<Output>
  /** Waits until standard error has a line with a text, and returns the line. */
  waitForLine(part: string): Promise<string>
  /**
   * Waits until a condition holds.
   *
   * @throws with what was awaited, when the process ends before, or after 50 s
   */
  until(condition: () => boolean, awaited: string): Promise<void>
  /** Sends SIGTERM to the group, as a terminal would, and waits for the end. */
  stop(): Promise<void>
}

export interface ShellOptions {
  /** The working folder. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

const LIMIT_MS = 50_000

const running = new Set<number>()

// A test that reaches its time limit leaves its shells behind.
process.once('exit', () => {
  for (const pid of running) process.kill(-pid, 'SIGKILL')
})

/** Starts bash on a text. A failed command ends it, in the middle of a pipe too. */
export function startShell(text: string, { folder, environment }: ShellOptions): Shell {
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', text], {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      output[stream] += chunk
    })
  }
  const { pid } = child
  if (pid === undefined) throw new Error('bash cannot be started')
  running.add(pid)
  let hasEnded = false
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => {
    hasEnded = true
    running.delete(pid)
  })

  async function until(condition: () => boolean, awaited: string): Promise<void> {
    const end = performance.now() + LIMIT_MS
    while (!condition()) {
      if (hasEnded) throw new Error(`ended before ${awaited}:\n${output.stderr}`)
      if (performance.now() > end) throw new Error(`waited ${LIMIT_MS} ms for ${awaited}:\n${output.stderr}`)
      await Bun.sleep(10)
    }
  }

  return {
    until,
    async end() {
      const code = await closed
      if (code !== 0) throw new Error(`exit code ${code}:\n${output.stdout}${output.stderr}`)
      return output
    },
    async waitForLine(part) {
      const find = () =>
        output.stderr
          .split('\n')
          .slice(0, -1)
          .find((line) => line.includes(part))
      await until(() => find() !== undefined, JSON.stringify(part))
      return find() ?? ''
    },
    async stop() {
      if (!hasEnded) process.kill(-pid, 'SIGTERM')
      await closed
    },
  }
}

/** A copy of the repository in which tests run, so that a break never touches the real files. */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../support/paths.ts'

/** How a run of tests ended. `broken` means that no test ran, or that the run took longer than the limit. */
export interface Run {
  readonly outcome: 'passed' | 'failed' | 'broken'
  readonly seconds: number
  readonly output: string
}

export interface Copy {
  /** The root of the copy. */
  readonly root: string
  /** Runs the tests of a file, those whose names match `only` if that is given. Each test fails after `timeoutMs`. */
  test(file: string, options: { readonly only: string | undefined; readonly timeoutMs: number }): Promise<Run>
  /** Ends the tests that still run and deletes the copy. */
  remove(): void
}

const RUN_LIMIT_MS = 180_000

/** Copies every file that git knows or would add; node_modules is a link. */
export function createCopy(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-mutants-'))
  const root = join(folder, 'tree')
  // Tests that fail leave their temporary files here.
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  // PostgreSQL runs as another user where this one is root.
  chmodSync(folder, 0o755)
  const { stdout } = spawnSync('git', ['ls-files', '-coz', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  const files = stdout.split('\0').filter((file) => file && existsSync(join(ROOT, file)))
  for (const file of files) cpSync(join(ROOT, file), join(root, file))
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const running = new Set<number>()

  function endGroup(pid: number): void {
    running.delete(pid)
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // The group has ended.
    }
  }

  return {
    root,
    async test(file, { only, timeoutMs }) {
      const args = ['test', '--timeout', String(Math.ceil(timeoutMs)), '--bail', `./${file}`]
      if (only) args.push('-t', only)
      const start = performance.now()
      // A group of its own, so that services which a failed test leaves behind end with it.
      const child = spawn(process.execPath, args, {
        cwd: root,
        env: { ...process.env, TMPDIR: temporary },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const pid = child.pid ?? 0
      running.add(pid)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
      const closed = new Promise((resolve) => child.on('close', resolve))
      const timer = setTimeout(() => endGroup(pid), RUN_LIMIT_MS)
      const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
      clearTimeout(timer)
      endGroup(pid)
      // The last lines of its output may come after its end.
      await closed
      const seconds = (performance.now() - start) / 1000
      if (code === 0) return { outcome: 'passed', seconds, output }
      return { outcome: code !== null && /^\(fail\)/m.test(output) ? 'failed' : 'broken', seconds, output }
    },
    remove() {
      for (const pid of running) endGroup(pid)
      // PostgreSQL may still be removing its own files.
      for (let attempt = 0; attempt < 100 && existsSync(folder); attempt++) {
        if (attempt > 0) Bun.sleepSync(50)
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

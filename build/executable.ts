/** Executables, each with the program and the runtime in one file. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleProgram } from './bundle.ts'
import { readOrigin } from './origin.ts'
import { findRuntime, writeRuntime } from './runtime.ts'

/** All targets. */
export const PLATFORMS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
]

/** The target of this machine. */
export const HOST_TARGET = `${process.platform}-${process.arch}`

/**
 * Builds an executable.
 *
 * @throws AggregateError when a source cannot be bundled, and as `writeRuntime`
 */
export async function buildExecutable(target: string, outfile: string, commit = readOrigin().commit): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-runtime-'))
  try {
    // `npm ci` has compared the runtime of this machine with package-lock.json.
    const runtime = target === HOST_TARGET ? process.execPath : await writeRuntime(folder, findRuntime(target))
    await compile(target, { runtime, outfile, commit })
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log(`${outfile}: ${Math.round(Bun.file(outfile).size / 1e6)} MB`)
}

interface Compilation {
  /** The path of the runtime for the target. */
  readonly runtime: string
  readonly outfile: string
  readonly commit: string | undefined
}

async function compile(target: string, { runtime, outfile, commit }: Compilation): Promise<void> {
  await bundleProgram(commit, {
    // Without folders, so that the script of a thread is next to the program, as in the sources.
    naming: { entry: '[name].[ext]' },
    format: 'esm',
    // It reads no file of the folder in which it is started, apart from its own.
    compile: {
      target: `bun-${target}` as Bun.Build.CompileTarget,
      executablePath: runtime,
      outfile,
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
  })
}

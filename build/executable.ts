/** Executables, each with the program and the runtime in one file. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePage } from '../src/page/bundle.ts'
import { ROOT, readOrigin } from './origin.ts'
import { findRuntime, writeRuntime } from './runtime.ts'

const SOURCES = join(ROOT, 'src')

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
  const literals = Object.entries(await bundlePage()).map(([name, content]) => {
    const text = typeof content === 'string'
    return `${name}: ${text ? JSON.stringify(content) : `Buffer.from('${Buffer.from(content).toString('base64')}', 'base64')`}`
  })
  const page = `const page = { ${literals.join(', ')} }\nexport const bundlePage = async () => page`
  await Bun.build({
    // The script of each thread is an entry point of its own.
    entrypoints: [join(SOURCES, 'cli.ts'), ...new Bun.Glob('**/*worker.ts').scanSync({ cwd: SOURCES, absolute: true })],
    // Without folders, so that `new URL('./worker.ts', import.meta.url)` is the same file as in the sources.
    naming: { entry: '[name].[ext]' },
    // Names stay, for the stacks in the log.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    format: 'esm',
    // It reads no file of the folder in which it is started, apart from its own.
    compile: {
      target: `bun-${target}` as Bun.Build.CompileTarget,
      executablePath: runtime,
      outfile,
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
    // Packages for Node look for files next to their code, which is not there: the path of the build would be in the program.
    define: { COMMIT: JSON.stringify(commit) ?? 'undefined', __dirname: '"/"', __filename: '"/"' },
    plugins: [replacePageBundle(page)],
  })
}

/** Replaces the module that bundles the page: the build has done it. */
function replacePageBundle(contents: string): Bun.BunPlugin {
  const filter = new RegExp(`^${RegExp.escape(join(SOURCES, 'page/bundle.ts'))}$`)
  return { name: 'page', setup: (build) => void build.onLoad({ filter }, () => ({ contents, loader: 'ts' })) }
}

/** Builds executables: the program and the runtime in one file. */

import { join, resolve } from 'node:path'
import { Glob } from 'bun'
import { bundlePage } from '../src/page/bundle.ts'

const ROOT = resolve(import.meta.dir, '..')
const SOURCES = join(ROOT, 'src')

/** The executables, and the runtime that each contains. Those with musl are for Alpine, with libstdc++. */
export const TARGETS = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'linux-arm64-musl': 'bun-linux-arm64-musl',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
} as const
export type Target = keyof typeof TARGETS

export function isTarget(name: string): name is Target {
  return Object.hasOwn(TARGETS, name)
}

/** The target of this machine. @throws Error when there is none */
export function toHostTarget(): Target {
  const name = `${process.platform}-${process.arch}`
  if (isTarget(name)) return name
  throw new Error(`there is no executable for ${name}`)
}

export interface BuildOptions {
  readonly target: Target
  readonly outfile: string
  /** For `rollcall --version`. */
  readonly commit: string | undefined
}

/**
 * Builds an executable. The runtime of another machine comes from the npm registry, and is kept.
 *
 * @throws AggregateError when a source cannot be bundled, or the runtime is not available
 */
export async function buildExecutable({ target, outfile, commit }: BuildOptions): Promise<void> {
  const replaced = {
    'page/bundle.ts': await writePageModule(),
    'commands/commit.ts': `export const COMMIT = ${JSON.stringify(commit)}`,
  }
  await Bun.build({
    entrypoints: [join(SOURCES, 'cli.ts'), ...listThreads()],
    // Without folders, so that `new URL('./worker.ts', import.meta.url)` is the same file as in the sources.
    naming: { entry: '[name].[ext]' },
    // Names stay, for the stacks in the log.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    format: 'esm',
    compile: { target: TARGETS[target], outfile, autoloadBunfig: false },
    plugins: [createReplacement(replaced)],
  })
}

async function writePageModule(): Promise<string> {
  const { font, ...texts } = await bundlePage()
  return `const font = Buffer.from('${Buffer.from(font).toString('base64')}', 'base64')
export const bundlePage = async () => ({ ...${JSON.stringify(texts)}, font })`
}

/** Lists the scripts of threads. Each is an entry point of its own. */
function listThreads(): string[] {
  return [...new Glob('**/*worker.ts').scanSync({ cwd: SOURCES, absolute: true })].sort()
}

/** Replaces modules that do at run time what the build has done already. */
function createReplacement(texts: Readonly<Record<string, string>>): Bun.BunPlugin {
  return {
    name: 'replaced modules',
    setup(build) {
      for (const [file, contents] of Object.entries(texts)) {
        const path = join(SOURCES, file)
        build.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, () => ({ contents, loader: 'ts' }))
      }
    },
  }
}

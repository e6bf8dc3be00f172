/** Executables, each with the program and the runtime in one file. */

import { join } from 'node:path'
import { bundlePage } from '../src/page/bundle.ts'
import { ROOT, readOrigin } from './origin.ts'

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
 * Builds an executable. The runtime of another platform comes from the npm registry, and is kept.
 *
 * @throws AggregateError when a source cannot be bundled, or the runtime is not available
 */
export async function buildExecutable(target: string, outfile: string, commit = readOrigin().commit): Promise<void> {
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
      outfile,
      autoloadBunfig: false,
      autoloadDotenv: false,
    },
    define: { COMMIT: JSON.stringify(commit) ?? 'undefined' },
    plugins: [replacePageBundle(page)],
  })
  console.log(`${outfile}: ${Math.round(Bun.file(outfile).size / 1e6)} MB`)
}

/** Replaces the module that bundles the page: the build has done it. */
function replacePageBundle(contents: string): Bun.BunPlugin {
  const filter = new RegExp(`^${RegExp.escape(join(SOURCES, 'page/bundle.ts'))}$`)
  return { name: 'page', setup: (build) => void build.onLoad({ filter }, () => ({ contents, loader: 'ts' })) }
}

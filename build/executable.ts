/** Executables, each with the program and the runtime in one file, and the licenses of what they contain. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packages } from '../package-lock.json' with { type: 'json' }
import { bundlePage } from '../src/page/bundle.ts'

export const ROOT = resolve(import.meta.dir, '..')
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

/** Writes executables and the licenses to `dist/`. */
export async function buildExecutables(targets: readonly string[]): Promise<void> {
  for (const target of targets) await buildExecutable(target, join(ROOT, 'dist', `rollcall-${target}`))
  writeFileSync(join(ROOT, 'dist/THIRD-PARTY-NOTICES'), readNotices())
}

/**
 * Builds an executable. The runtime of another platform comes from the npm registry, and is kept.
 *
 * @throws AggregateError when a source cannot be bundled, or the runtime is not available
 */
export async function buildExecutable(target: string, outfile: string, commit = readCommit()): Promise<void> {
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

/** The commit of the checkout, with `-dirty` if a file was changed. Undefined outside of a checkout or without git. */
function readCommit(): string | undefined {
  if (!Bun.which('git')) return undefined
  const { stdout } = Bun.spawnSync(['git', 'describe', '--always', '--dirty', '--exclude=*'], { cwd: ROOT })
  return stdout.toString().trim() || undefined
}

/** The licenses of the runtime and of every package in the executable. @throws Error when a package has none */
export function readNotices(): string {
  const folders = Object.entries(packages)
    .filter(([path, entry]) => path && !('dev' in entry) && !/\/(@oven|bun$)/.test(path))
    .map(([path]) => join(ROOT, path))
  const notices = folders.filter(existsSync).map((folder) => {
    const { name, version, license, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
    if (!file && !(license && repository)) throw new Error(`${folder} has no license`)
    // MPL 2.0, section 3.2: where the source is.
    const named = `License: https://spdx.org/licenses/${license}.html\nSource: ${repository?.url ?? repository}`
    return `${name} ${version}\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : named}\n`
  })
  const bun = readFileSync(join(import.meta.dir, 'bun-license.mdx'), 'utf8')
  return [`Bun ${Bun.version}\n\n${bun.trim()}\n`, ...notices].join(`\n${'-'.repeat(80)}\n\n`)
}

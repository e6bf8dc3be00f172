/** The program as one file for each thread, with what it needs of other packages. Executables and the npm package have these files. */

import { join } from 'node:path'
import { bundlePage } from '../src/page/bundle.ts'
import { ROOT } from './origin.ts'

const SOURCES = join(ROOT, 'src')

/**
 * Bundles the program, with its bytecode: the runtime needs a third of a start to parse the sources of packages.
 *
 * @param commit that the program says it is; undefined if nobody knows it
 * @param form where it is written, and how
 * @throws AggregateError when a source cannot be bundled
 */
export async function bundleProgram(commit: string | undefined, form: Partial<Bun.BuildConfig>): Promise<void> {
  const literals = Object.entries(await bundlePage()).map(([name, content]) => {
    const text = typeof content === 'string'
    return `${name}: ${text ? JSON.stringify(content) : `Buffer.from('${Buffer.from(content).toString('base64')}', 'base64')`}`
  })
  const page = `const page = { ${literals.join(', ')} }\nexport const bundlePage = async () => page`
  await Bun.build({
    // The script of each thread is an entry point of its own.
    entrypoints: [join(SOURCES, 'cli.ts'), ...new Bun.Glob('**/*worker.ts').scanSync({ cwd: SOURCES, absolute: true })],
    target: 'bun',
    // Names stay, for the stacks in the log.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    plugins: [replacePageBundle(page)],
    ...form,
    // Packages for Node look for files next to their code, which is not there: the path of the build would be in the program.
    define: { COMMIT: JSON.stringify(commit) ?? 'undefined', __dirname: '"/"', __filename: '"/"', ...form.define },
  })
}

/** Replaces the module that bundles the page: the build has done it. */
function replacePageBundle(contents: string): Bun.BunPlugin {
  const filter = new RegExp(`^${RegExp.escape(join(SOURCES, 'page/bundle.ts'))}$`)
  return { name: 'page', setup: (build) => void build.onLoad({ filter }, () => ({ contents, loader: 'ts' })) }
}

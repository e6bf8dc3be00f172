/** Reads the files of the page, and bundles its sources. In an executable, the result replaces this module. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(import.meta.dir, 'assets')
const FONT = fileURLToPath(import.meta.resolve('@fontsource/fraunces/files/fraunces-latin-600-normal.woff2'))

/**
 * Builds the files of the page that are the same for every site. The font of titles is Fraunces, in the subset for Latin.
 *
 * @throws AggregateError when a source cannot be bundled
 */
export async function bundlePage() {
  const [stylesheet, script, font] = await Promise.all([bundle('page.css'), bundle('page.ts'), readFile(FONT)])
  return { stylesheet, script, font }
}

async function bundle(source: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [join(FOLDER, source)], minify: true, target: 'browser' })
  return outputs[0]?.text() ?? ''
}

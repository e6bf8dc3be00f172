/** Reads the files of the page, and bundles its sources. In an executable, the result replaces this module. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files of the page that are the same for every site, by their use. */
export interface PageSources {
  readonly stylesheet: string
  readonly script: string
  /** The font of titles, as WOFF2: Fraunces, in the subset for Latin. */
  readonly font: Uint8Array
}

const FOLDER = join(import.meta.dir, 'assets')
const FONT = fileURLToPath(import.meta.resolve('@fontsource/fraunces/files/fraunces-latin-600-normal.woff2'))

/** @throws AggregateError when a source cannot be bundled */
export async function bundlePage(): Promise<PageSources> {
  const [stylesheet, script, font] = await Promise.all([bundle('page.css'), bundle('page.ts'), readFile(FONT)])
  return { stylesheet, script, font }
}

async function bundle(source: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [join(FOLDER, source)], minify: true, target: 'browser' })
  return outputs[0]?.text() ?? ''
}

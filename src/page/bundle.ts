/** Bundles and minifies the sources of the page. An executable has the result in the place of this module. */

import { join } from 'node:path'
import { readTitleFont } from './title-font.ts'

export interface PageSources {
  readonly stylesheet: string
  readonly script: string
  /** The font of titles, as WOFF2. */
  readonly font: Uint8Array
}

const FOLDER = join(import.meta.dir, 'assets')

export async function bundlePage(): Promise<PageSources> {
  const [stylesheet, script, font] = await Promise.all([bundle('page.css'), bundle('page.ts'), readTitleFont()])
  return { stylesheet, script, font }
}

async function bundle(source: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, source)],
    minify: true,
    target: 'browser',
  })
  const texts = await Promise.all(outputs.map((output) => output.text()))
  return texts.join('')
}

/** Bundles and minifies the sources of the page. An executable has their texts in the place of this module. */

import { join } from 'node:path'

export interface PageTexts {
  readonly stylesheet: string
  readonly script: string
}

const FOLDER = join(import.meta.dir, 'assets')

export async function bundlePage(): Promise<PageTexts> {
  const [stylesheet, script] = await Promise.all([bundle('page.css'), bundle('page.ts')])
  return { stylesheet, script }
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

/** Reads the files of the page, and bundles its sources. In an executable and in the npm package, the result replaces this module. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Builds what every site has: the style, the script, and the font of titles. @throws AggregateError when a source is wrong */
export async function bundlePage() {
  const [stylesheet, script] = await Promise.all([bundle('page.css'), bundle('page.ts')])
  return {
    stylesheet,
    script,
    latin: readFont('latin'),
    vietnamese: readFont('vietnamese'),
    extended: readFont('latin-ext'),
  }
}

function readFont(subset: string): Uint8Array {
  return readFileSync(new URL(import.meta.resolve(`@fontsource/fraunces/files/fraunces-${subset}-600-normal.woff2`)))
}

async function bundle(source: string): Promise<string> {
  const entrypoints = [join(import.meta.dir, 'assets', source)]
  const { outputs } = await Bun.build({ entrypoints, minify: true, target: 'browser' })
  return outputs[0]?.text() ?? ''
}

/** What is inside of a build beside Rollcall: the packages that it needs, and their licenses. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from '../package-lock.json' with { type: 'json' }
import { ROOT } from './origin.ts'

/** The texts that no package has. */
export const LICENSES = join(import.meta.dir, 'licenses')

/** Lists the folders of the packages that are installed and that the service needs, the runtime included. */
export function listPackages(): string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path && !('dev' in entry))
    .map(([path]) => join(ROOT, path))
    .filter(existsSync)
}

/** Reads the package.json of a package. */
export const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The licenses of the runtime and of every package in an executable. @throws Error when a package has none */
export function readNotices(): string {
  const folders = listPackages().filter((folder) => !/\/(@oven\/[^/]+|bun)$/.test(folder))
  // The runtime links JavaScriptCore and TinyCC, which are under these versions of the LGPL.
  const runtime = ['bun.mdx', 'LGPL-2.0.txt', 'LGPL-2.1.txt'].map(readLicense)
  return [`Bun ${Bun.version}`, ...runtime, ...folders.flatMap(readNotice)].join(`\n\n${'-'.repeat(80)}\n\n`)
}

/** The text of a file of build/licenses. */
const readLicense = (name: string) => readFileSync(join(LICENSES, name), 'utf8').trim()

/** The names of files with licenses. A package may have one for its code and another one for its font. */
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice|ofl)/i

function readNotice(folder: string): string {
  const { name, version, license, repository } = readManifest(folder)
  const files = readdirSync(folder).filter((entry) => LICENSE_FILE.test(entry))
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (files.length > 0) return [`${name} ${version}`, ...texts].join('\n\n')
  if (!license || !repository) throw new Error(`${folder} has no license`)
  // MPL 2.0, section 3.2: where the source is.
  const source = `Source: ${repository.url ?? repository}`
  const crates = name === '@resvg/resvg-wasm' ? [readLicense('resvg-crates.txt')] : []
  return [`${name} ${version}`, source, readLicense(`${license}.txt`), ...crates].join('\n\n')
}

/** The SBOM (software bill of materials): that of npm, and what is inside of its packages, as far as they say it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { LICENSES, listPackages, readManifest } from './notices.ts'

/** A component of CycloneDX 1.5. A library without a version is one of which its package says only the name. */
interface Component {
  readonly type: string
  readonly name: string
  readonly version?: string
  readonly purl?: string
}

/** The output of `npm sbom`, as far as it is read or changed here. */
interface Sbom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string }
  readonly components: readonly Component[]
}

/** A row of a table of Bun's license: a library in its runtime, which is often a link in code. */
const BUN_ROW = /^\| (?:\[`([^`]+)`\]|(?:A fork of|Parts of) \[`?([^`\]]+)`?\])/gm

/** A line of the list of crates: name and version, license, copyright. */
const CRATE_LINE = /^(\S+) (\d+\.\d+\.\d+) \| /gm

/** What the runtime and the renderer of pictures contain. */
export function listLibraries(): Component[] {
  const bun = readFileSync(join(LICENSES, 'bun.mdx'), 'utf8')
  const crates = readFileSync(join(LICENSES, 'resvg-crates.txt'), 'utf8')
  return [
    { type: 'library', name: 'JavaScriptCore' },
    ...[...bun.matchAll(BUN_ROW)].map(([, name, other]) => ({ type: 'library', name: name ?? other ?? '' })),
    ...[...crates.matchAll(CRATE_LINE)].map(([, name = '', version]) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:cargo/${name}@${version}`,
    })),
  ]
}

/**
 * Adds these libraries to an SBOM of npm. The same release gives the same text: npm writes the time, and a random number.
 *
 * @param date of the commit
 */
export function toSbom(sbom: Sbom, date: Date): string {
  const { serialNumber: _, ...rest } = sbom
  const metadata = { ...sbom.metadata, timestamp: date.toISOString() }
  return `${JSON.stringify({ ...rest, metadata, components: [...sbom.components, ...listLibraries()] }, null, 2)}\n`
}

/** A package of Debian, with its version there. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
}

/**
 * The SBOM of the image, whose packages of npm are those that are installed.
 *
 * @param packages of Debian, whose libraries the executable loads
 * @param date of the commit
 */
export function toImageSbom(packages: readonly DebianPackage[], date: Date): string {
  const npm = listPackages().map((folder) => {
    const { name, version: number } = readManifest(folder)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${number}`
    return { type: 'library', name, version: number, purl }
  })
  const debian = packages.map((each) => ({
    ...each,
    type: 'library',
    purl: `pkg:deb/debian/${each.name}@${each.version}`,
  }))
  const component = { type: 'application', name: 'rollcall', version }
  const metadata = { timestamp: date.toISOString(), component }
  const components = [...npm, ...listLibraries(), ...debian]
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }, null, 2)}\n`
}

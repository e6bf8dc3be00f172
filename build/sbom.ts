/** The SBOM (CycloneDX) of a release: the packages that the service needs, as they are installed. */

import { join } from 'node:path'
import { $ } from 'bun'
import { listPackages, readManifest } from './notices.ts'
import { ROOT } from './origin.ts'

/** The generator has a lock file of its own. */
const TOOL = join(import.meta.dir, 'sbom')

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
}

/** Writes it to a file. @throws Error with the differences when it has other packages than those that are installed */
export async function writeSbom(file: string): Promise<void> {
  await $`npm ci --omit=optional --no-audit --loglevel=error --prefix ${TOOL}`.quiet()
  const options = ['--omit', 'dev', '--output-reproducible', '--output-format', 'JSON', '--output-file', file]
  await $`node ${TOOL}/node_modules/.bin/cyclonedx-npm ${options} ${ROOT}/package.json`.cwd(TOOL).quiet()
  const { components }: { components: readonly Component[] } = await Bun.file(file).json()
  const named = components.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name} ${version}`)
  const installed = listPackages().map((folder) => {
    const { name, version } = readManifest(folder)
    return `${name} ${version}`
  })
  const differences = [...new Set(named).symmetricDifference(new Set(installed))]
  if (differences.length > 0) throw new Error(`the SBOM differs from what is installed: ${differences.join(', ')}`)
}

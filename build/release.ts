/** A release: executables, archives, Debian packages, the npm package, an SBOM, licenses and SHA256SUMS. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { version } from '../package.json' with { type: 'json' }
import { writeArchive } from './archive.ts'
import { TARGETS, writeDeb } from './deb.ts'
import { buildExecutable, PLATFORMS } from './executable.ts'
import { listPackages, readManifest, readNotices } from './notices.ts'
import { type Origin, ROOT, readOrigin } from './origin.ts'

/** Writes a release to a folder. @param platforms the targets of executables */
export async function writeRelease(
  folder: string,
  platforms: readonly string[],
  origin: Origin = readOrigin(),
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await writeSbom(join(folder, 'rollcall.cdx.json'))
  await writePackage(folder, origin)
  for (const platform of platforms) {
    const executable = join(folder, `rollcall-${platform}`)
    await buildExecutable(platform, executable, origin.commit)
    if (platform.startsWith('linux')) await writeArchive(executable)
    const [architecture] = Object.entries(TARGETS).find(([, target]) => target === platform) ?? []
    if (!architecture) continue
    await writeDeb({ architecture, executable, origin, file: join(folder, `rollcall_${version}_${architecture}.deb`) })
  }
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), readNotices())
  await $`sha256sum * > SHA256SUMS`.cwd(folder)
}

/** The generator of the SBOM has a lock file of its own. */
const TOOL = join(import.meta.dir, 'sbom')

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
}

/**
 * Writes the SBOM (CycloneDX): the packages that the service needs, as they are installed.
 *
 * @throws Error with the differences when it has other packages than those that are installed
 */
async function writeSbom(file: string): Promise<void> {
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

/** Packs the npm package. Its package.json says where it comes from; that of the checkout cannot know it. */
async function writePackage(folder: string, { commit, url }: Origin): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'rollcall-package-'))
  try {
    const pack = async (from: string, to: string) =>
      join(to, (await $`npm pack --silent --pack-destination ${to}`.cwd(from).text()).trim())
    await $`tar -xzf ${await pack(ROOT, temporary)} -C ${temporary}`
    const copy = join(temporary, 'package')
    const places = url && {
      repository: { type: 'git', url: `git+${url}.git` },
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
    }
    const manifest = { ...readManifest(copy), ...places, gitHead: commit }
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    await pack(copy, folder)
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

/**
 * Writes a release to `dist/release/`, which is complete if it is there. Ends the process if the tag is not that of
 * package.json.
 */
export async function buildRelease(tag: string | undefined): Promise<void> {
  if (tag !== `v${version}`) {
    console.error(`npm run build release needs the tag v${version}`)
    process.exit(2)
  }
  const folder = join(ROOT, 'dist/release')
  const partial = `${folder}.partial`
  for (const earlier of [folder, partial]) rmSync(earlier, { recursive: true, force: true })
  await writeRelease(partial, PLATFORMS)
  renameSync(partial, folder)
}

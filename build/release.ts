/** A release: executables, archives, Debian packages, the npm package, an SBOM and SHA256SUMS. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'
import { version } from '../package.json' with { type: 'json' }
import { writeArchive } from './archive.ts'
import { TARGETS, writeDeb } from './deb.ts'
import { buildExecutable, PLATFORMS, ROOT, readNotices } from './executable.ts'

/** Writes a release to a folder. @param platforms the targets of executables */
export async function writeRelease(folder: string, platforms: readonly string[]): Promise<void> {
  mkdirSync(folder)
  for (const platform of platforms) {
    const executable = join(folder, `rollcall-${platform}`)
    await buildExecutable(platform, executable)
    if (platform.startsWith('linux')) await writeArchive(executable)
    const [architecture] = Object.entries(TARGETS).find(([, target]) => target === platform) ?? []
    if (!architecture) continue
    await writeDeb({ architecture, executable, file: join(folder, `rollcall_${version}_${architecture}.deb`) })
  }
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), readNotices())
  await $`npm pack --pack-destination ${folder}`.cwd(ROOT).quiet()
  await $`npm sbom --sbom-format cyclonedx --omit dev > ${join(folder, 'rollcall.cdx.json')}`.cwd(ROOT).quiet()
  await $`sha256sum * > SHA256SUMS`.cwd(folder)
}

/** Writes a release to `dist/`. Ends the process if the tag is not that of package.json, or `dist/` exists. */
export async function buildRelease(tag: string | undefined): Promise<void> {
  const folder = join(ROOT, 'dist')
  if (tag !== `v${version}` || existsSync(folder)) {
    console.error(`npm run build release needs the tag v${version}, and that there is no dist/`)
    process.exit(2)
  }
  await writeRelease(folder, PLATFORMS)
}

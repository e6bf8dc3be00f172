/** A release: executables, archives, Debian packages, the npm package, an SBOM, licenses and SHA256SUMS. */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { version } from '../package.json' with { type: 'json' }
import { writeDeb } from './deb.ts'
import { buildExecutable, PLATFORMS } from './executable.ts'
import { writeArchive } from './installation.ts'
import { readManifest, readNotices } from './notices.ts'
import { type Origin, ROOT, readOrigin } from './origin.ts'
import { toSbom } from './sbom.ts'

/** Writes a release to a folder. @param targets of executables */
export async function writeRelease(folder: string, targets: readonly string[], origin = readOrigin()): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await writeNpmPackage(folder, origin)
  for (const target of targets) await writePackages(folder, target, origin)
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), readNotices())
  await $`sha256sum ${readdirSync(folder).sort()} > SHA256SUMS`.cwd(folder)
}

/** Writes an executable; for Linux also its archive, and its Debian package where Debian has that architecture. */
export async function writePackages(folder: string, target: string, origin = readOrigin()): Promise<void> {
  const executable = join(folder, `rollcall-${target}`)
  await buildExecutable(target, executable, origin.commit)
  if (target.startsWith('linux')) await writeArchive(executable, origin.date)
  await writeDeb(folder, target, executable, origin)
}

/** Packs the npm package, and writes its SBOM. Its package.json says where it comes from; that of the checkout cannot know it. */
async function writeNpmPackage(folder: string, { commit, url, date }: Origin): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'rollcall-package-'))
  try {
    // The program says which commit it is. Outside of git, only the caller knows it.
    const env = { ...process.env, REVISION: commit }
    const pack = async (from: string, to: string, ...options: readonly string[]) =>
      join(to, (await $`npm pack --silent ${options} --pack-destination ${to}`.cwd(from).env(env).text()).trim())
    await $`tar -xzf ${await pack(ROOT, temporary)} -C ${temporary}`
    // The SBOM has the name of the folder.
    const copy = join(temporary, 'rollcall')
    renameSync(join(temporary, 'package'), copy)
    const places = url && {
      repository: { type: 'git', url: `git+${url}.git` },
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
    }
    const manifest = { ...readManifest(copy), ...places, gitHead: commit }
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    // The copy has the program, and not what builds it.
    await pack(copy, folder, '--ignore-scripts')
    cpSync(join(ROOT, 'package-lock.json'), join(copy, 'package-lock.json'))
    await $`npm ci --omit=dev --ignore-scripts --no-audit --loglevel=error`.cwd(copy).quiet()
    // npm leaves out a package that the development needs too, so nothing may name that.
    await $`npm pkg delete devDependencies`.cwd(copy)
    const sbom = await $`npm sbom --sbom-format cyclonedx`.cwd(copy).json()
    writeFileSync(join(folder, 'rollcall.cdx.json'), toSbom(sbom, date))
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

/** `npm run build [TARGET…]`: writes what is asked for to `dist/`. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildExecutable, HOST_TARGET, PLATFORMS } from './executable.ts'
import { buildImage } from './image.ts'
import { readNotices } from './notices.ts'
import { ROOT } from './origin.ts'
import { buildRelease, writePackages } from './release.ts'

const HELP = `usage: npm run build [TARGET…]

  (nothing)           the executable for this machine
  ${PLATFORMS.join(', ')}
                      those for these machines
  all                 those for all of them
  packages [TARGET…]  each with an archive and a Debian package, as far as there are any for its machine
  image               the files of the image; the Containerfile runs it
  release TAG         everything of a release; TAG is v and the version`

const DIST = join(ROOT, 'dist')

/** The targets that are not executables. */
export const BUILDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  packages: (args) => buildEach(args, (target) => writePackages(DIST, target)),
  image: buildImage,
  release: ([tag]) => buildRelease(tag),
}

if (import.meta.main) {
  const [name = '', ...args] = process.argv.slice(2)
  if (name in BUILDS) await BUILDS[name]?.(args)
  else
    await buildEach(name ? [name, ...args] : [], (target) => buildExecutable(target, join(DIST, `rollcall-${target}`)))
}

/** Builds for these machines, by default for this one, and writes the licenses. Ends the process if one is unknown. */
async function buildEach(names: readonly string[], build: (target: string) => Promise<void>): Promise<void> {
  const targets = names.includes('all') ? PLATFORMS : names.length > 0 ? names : [HOST_TARGET]
  if (!targets.every((name) => PLATFORMS.includes(name))) {
    console.error(HELP)
    process.exit(2)
  }
  mkdirSync(DIST, { recursive: true })
  for (const target of targets) await build(target)
  writeFileSync(join(DIST, 'THIRD-PARTY-NOTICES'), readNotices())
}

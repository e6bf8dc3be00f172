/** `npm run build [TARGET…]`: writes what is asked for to `dist/`. */

import { buildArchives } from './archive.ts'
import { buildDebs } from './deb.ts'
import { buildExecutables, HOST_TARGET, PLATFORMS } from './executable.ts'
import { buildImage } from './image.ts'
import { buildRelease } from './release.ts'

const HELP = `usage: npm run build [TARGET…]

  (nothing)            the executable for this machine
  ${PLATFORMS.join(', ')}
                       those for these machines
  all                  those for all of them
  archive [FILE…]      an archive of each executable for Linux in dist/, or of FILE
  deb [ARCHITECTURE…]  the executable and a Debian package, for amd64, arm64 or all
  image                the files of the image; the Containerfile runs it
  release TAG          everything of a release; TAG is v and the version`

/** The targets that are not executables. */
export const BUILDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  archive: buildArchives,
  deb: buildDebs,
  image: buildImage,
  release: ([tag]) => buildRelease(tag),
}

if (import.meta.main) {
  const [target = HOST_TARGET, ...args] = process.argv.slice(2)
  const platforms = target === 'all' ? PLATFORMS : [target, ...args]
  const build = BUILDS[target]
  if (build) await build(args)
  else if (platforms.every((name) => PLATFORMS.includes(name))) await buildExecutables(platforms)
  else {
    console.error(HELP)
    process.exit(2)
  }
}

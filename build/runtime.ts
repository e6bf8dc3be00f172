/** The runtimes that are packed into executables. They are packages of npm, and package-lock.json has the hash of each. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { $ } from 'bun'
import { packages } from '../package-lock.json' with { type: 'json' }

/** A package of npm, and the hash of its file. */
export interface Pinned {
  /** With its version, such as `@oven/bun-linux-x64@1.4.5`. */
  readonly spec: string
  /** As in package-lock.json, such as `sha512-…`. */
  readonly integrity: string
}

/** Finds the package of the runtime for a target, such as `linux-arm64-musl`. @throws Error when there is none */
export function findRuntime(target: string): Pinned {
  const name = `@oven/bun-${target.replace('arm64', 'aarch64')}`
  const entry = Object.entries(packages).find(([path]) => path === `node_modules/${name}`)?.[1]
  if (!entry || !('integrity' in entry)) throw new Error(`package-lock.json has no ${name}`)
  return { spec: `${name}@${entry.version}`, integrity: entry.integrity }
}

/**
 * Gets a runtime from the registry (or the cache) of npm. Bun would download it too, and would compare it with nothing.
 *
 * @param folder where the files are written
 * @returns the path of the program
 * @throws Error when it is not the package of package-lock.json, ShellError when npm cannot get it
 */
export async function writeRuntime(folder: string, { spec, integrity }: Pinned): Promise<string> {
  const file = join(folder, (await $`npm pack --silent --pack-destination ${folder} ${spec}`.text()).trim())
  const hash = createHash('sha512').update(await Bun.file(file).bytes())
  if (`sha512-${hash.digest('base64')}` !== integrity) {
    throw new Error(`${spec} is not the package of package-lock.json, which has ${integrity}`)
  }
  await $`tar -xzf ${file} -C ${folder}`
  return join(folder, 'package/bin/bun')
}

/** The runtimes of other machines come from a registry, here one on loopback, which may send another file. */

import { expect, onTestFinished, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PLATFORMS } from '../../build/executable.ts'
import { findRuntime, type Pinned, writeRuntime } from '../../build/runtime.ts'
import { createFolder } from '../support/workspace.ts'

/** Starts a registry that has one package, under the name of a runtime. Returns its file, and the package as a lock file has it. */
async function startRegistry() {
  const folder = await createFolder()
  mkdirSync(join(folder, 'package/bin'), { recursive: true })
  const { spec } = findRuntime('linux-arm64')
  const [, name = '', version = ''] = /^(.+)@(.+)$/.exec(spec) ?? []
  await Bun.write(join(folder, 'package/package.json'), JSON.stringify({ name, version }))
  await Bun.write(join(folder, 'package/bin/bun'), 'a runtime')
  await Bun.$`tar -czf file.tgz package`.cwd(folder)
  const bytes = await Bun.file(join(folder, 'file.tgz')).bytes()
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }): Response {
      if (url.endsWith('.tgz')) return new Response(bytes)
      // A registry that was changed says the hash of what it sends.
      const dist = { tarball: new URL('/file.tgz', url).href, integrity }
      return Response.json({ name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist } } })
    },
  })
  onTestFinished(() => server.stop(true))
  return { origin: server.url.origin, pinned: { spec, integrity } }
}

/** Gets a runtime from a registry, with a cache of its own. */
async function getRuntime(origin: string, pinned: Pinned): Promise<string> {
  const folder = await createFolder()
  await Bun.write(join(folder, 'npmrc'), `registry=${origin}/\ncache=${folder}/cache\n`)
  const earlier = process.env.NPM_CONFIG_USERCONFIG
  process.env.NPM_CONFIG_USERCONFIG = join(folder, 'npmrc')
  onTestFinished(() => {
    if (earlier === undefined) delete process.env.NPM_CONFIG_USERCONFIG
    else process.env.NPM_CONFIG_USERCONFIG = earlier
  })
  return writeRuntime(folder, pinned)
}

test('a runtime is that of package-lock.json, whatever the registry sends', async () => {
  const { origin, pinned } = await startRegistry()
  const refused = getRuntime(origin, findRuntime('linux-arm64'))
  await expect(refused).rejects.toThrow(`${pinned.spec} is not the package of package-lock.json`)
  expect(await Bun.file(await getRuntime(origin, pinned)).text()).toBe('a runtime')
})

test('package-lock.json has the runtime of every machine', () => {
  for (const target of PLATFORMS) expect(findRuntime(target).integrity).toMatch(/^sha512-.{86}==$/)
  expect(() => findRuntime('plan9-x64')).toThrow('package-lock.json has no @oven/bun-plan9-x64')
})

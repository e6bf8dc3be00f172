/** .ci/publish, which publishes a release, with a registry of npm of its own. test/runners/image.ts publishes the image. */

import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'

/** A registry: it keeps what is published, and has it from then on. */
function startRegistry() {
  const packages = new Map<string, object>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
      if (request.method === 'PUT') {
        packages.set(name, (await request.json()) as object)
        return Response.json({ ok: true }, { status: 201 })
      }
      const found = packages.get(name)
      return found ? Response.json(found) : Response.json({ error: 'not found' }, { status: 404 })
    },
  })
  onTestFinished(() => server.stop(true))
  return { origin: server.url.origin, packages }
}

/** Creates a checkout with a release: a package of the name, in a repository with these tags. */
async function createRelease(name: string, tags: readonly string[] = []) {
  const folder = await createFolder()
  cpSync(join(ROOT, '.ci/publish'), join(folder, '.ci/publish'))
  for (const path of ['package', 'dist/release', 'bin']) mkdirSync(join(folder, path), { recursive: true })
  const git = ['-c', 'user.name=a', '-c', 'user.email=a@b.io', '-c', 'init.defaultBranch=main']
  await Bun.$`git ${git} init --quiet && git ${git} commit --quiet --allow-empty --message one`.cwd(folder).quiet()
  for (const tag of tags) await Bun.$`git tag ${tag}`.cwd(folder)
  const pack = async (text: string) => {
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version: '1.0.0', description: text }))
    await Bun.$`tar -czf dist/release/list-1.0.0.tgz package`.cwd(folder)
  }
  await pack('one')
  return { folder, pack }
}

/** Runs the script. @param registry the origin of a registry of npm */
async function publish(folder: string, args: readonly string[], registry = 'http://127.0.0.1:1') {
  const rc = join(folder, '.npmrc')
  writeFileSync(rc, `registry=${registry}/\n//${new URL(registry).host}/:_authToken=none\n`)
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder, NPM_CONFIG_USERCONFIG: rc }
  const child = Bun.spawn(['.ci/publish', ...args], { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

test('npm gets the package once, under the name of package.json; another one of that version is refused', async () => {
  const { origin, packages } = startRegistry()
  const { folder, pack } = await createRelease('@owner/list')
  expect(await publish(folder, ['npm'], origin)).toMatchObject({ code: 0 })
  // A package of an owner is private unless that is said.
  const published = { 'dist-tags': { latest: '1.0.0' }, access: 'public' }
  expect([...packages]).toEqual([['@owner/list', expect.objectContaining(published)]])
  expect(await publish(folder, ['npm'], origin)).toMatchObject({ code: 0, stdout: 'npm has @owner/list 1.0.0\n' })
  await pack('two')
  const line = 'npm has another package as @owner/list 1.0.0: a version is published once\n'
  expect(await publish(folder, ['npm'], origin)).toEqual({ code: 1, stdout: '', stderr: line })
}, 300_000)

test('a repair of an earlier version does not become the one that people get by default', async () => {
  const { origin, packages } = startRegistry()
  const { folder } = await createRelease('list', ['v1.0.0', 'v1.1.0'])
  expect(await publish(folder, ['npm'], origin)).toMatchObject({ code: 0 })
  expect(packages.get('list')).toMatchObject({ 'dist-tags': { repair: '1.0.0' } })
}, 300_000)

test('a release of GitHub is created once, and its files are written again', async () => {
  const { folder } = await createRelease('list')
  // In the place of the program of GitHub: it fails to show a release until it has created one.
  const gh = '#!/bin/sh -e\necho "$@" >> calls\n[ "$2" != view ] || test -e made\n[ "$2" != create ] || touch made\n'
  writeFileSync(join(folder, 'bin/gh'), gh)
  chmodSync(join(folder, 'bin/gh'), 0o755)
  for (const _ of [1, 2]) expect(await publish(folder, ['release', 'v1.0.0'])).toMatchObject({ code: 0, stderr: '' })
  const upload = 'release upload v1.0.0 dist/release/list-1.0.0.tgz --clobber'
  const create = 'release create v1.0.0 --verify-tag --notes See CHANGELOG.md.'
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
  expect(calls).toEqual(['release view v1.0.0', create, upload, 'release view v1.0.0', upload])
})

test('without a part, it says what there is', async () => {
  const { folder } = await createRelease('list')
  expect(await publish(folder, [])).toMatchObject({ code: 2, stderr: expect.stringContaining('.ci/publish npm') })
})

test('an image that was not pushed fails, also where buildah says that it was', async () => {
  const { folder } = await createRelease('list')
  mkdirSync(join(folder, 'dist/images'))
  writeFileSync(join(folder, 'dist/images/x86_64.tar'), '')
  // In the place of buildah, whose version 1.28 exits with 0 when a push fails. With `digest`, it writes the digest of what it pushed.
  const buildah =
    '#!/bin/sh -e\ntest -e digest || exit 0\nwhile [ $# -gt 0 ]; do [ "$1" != --digestfile ] || echo sha256:0 > "$2"; shift; done\n'
  writeFileSync(join(folder, 'bin/buildah'), buildah, { mode: 0o755 })
  const refused = { code: 1, stdout: '', stderr: 'ghcr.io/owner/list:1.0.0 was not pushed\n' }
  expect(await publish(folder, ['image', 'ghcr.io/Owner/list'])).toEqual(refused)
  writeFileSync(join(folder, 'digest'), '')
  const output = 'name=ghcr.io/owner/list\ndigest=sha256:0\n'
  expect(await publish(folder, ['image', 'ghcr.io/Owner/list'])).toMatchObject({ code: 0, stdout: output })
})

test('a release is built for the tag of its version only', () => {
  const args = ['build/run.ts', 'release', 'v0.0.1']
  // A release takes minutes.
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: ROOT, timeout: 20_000 })
  expect([exitCode, stderr.toString()]).toEqual([2, `npm run build release needs the tag v${version}\n`])
})

/**
 * `npm run test:only -- release`: writes a release for this machine. Each part of it says which commit it is, and where it
 * comes from. Then it writes the next version, twice: it has the same bytes, and the earlier number is nowhere.
 */

import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { HOST_TARGET } from '../../build/executable.ts'
import { listPackages, readManifest } from '../../build/notices.ts'
import { readOrigin } from '../../build/origin.ts'
import { writeRelease } from '../../build/release.ts'
import { version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'
import { createCopy } from './mutants/copy.ts'

test('a release has what each kind of installation needs, with sums that are right', async () => {
  const folder = join(await createFolder(), 'release')
  const workflow = { GITHUB_SERVER_URL: 'https://git.site.io', GITHUB_REPOSITORY: 'owner/list', REVISION: 'abc1234' }
  await writeRelease(folder, [HOST_TARGET], readOrigin(workflow))
  const kinds = readdirSync(folder).map((name) => name.replace(HOST_TARGET, 'TARGET').replace(/_\w+\.deb$/, '.deb'))
  const programs = ['rollcall-TARGET', 'rollcall-TARGET.tar.gz', `rollcall-${version}.tgz`, `rollcall_${version}.deb`]
  expect(kinds.sort()).toEqual(['SHA256SUMS', 'THIRD-PARTY-NOTICES', 'rollcall.cdx.json', ...programs].sort())
  expect((await Bun.$`sha256sum --check SHA256SUMS`.cwd(folder).text()).match(/: OK$/gm)?.length).toBe(6)

  const { metadata, components } = await Bun.file(join(folder, 'rollcall.cdx.json')).json()
  const toNames = (packages: readonly { name: string; version: string }[]) =>
    packages.map((each) => `${each.name} ${each.version}`).sort()
  expect(toNames([metadata.component])).toEqual([`rollcall ${version}`])
  const npm = components.filter(({ purl }: { purl?: string }) => purl?.startsWith('pkg:npm/'))
  expect(toNames(npm)).toEqual(toNames(listPackages().map(readManifest)))
  const names = components.map(({ name }: { name: string }) => name)
  expect(names).toContainValues(['JavaScriptCore', 'sqlite', 'boringssl', 'tiny-skia', 'rustybuzz'])

  // Each part says which commit it is, and where it comes from.
  const [deb = '', tgz = ''] = ['deb', 'tgz'].map((name) =>
    join(folder, readdirSync(folder).find((file) => file.endsWith(name)) ?? ''),
  )
  await Bun.$`mkdir deb archive && dpkg-deb --extract ${deb} deb && tar -xzf ${tgz}`.cwd(folder)
  await Bun.$`tar -xzf rollcall-${HOST_TARGET}.tar.gz -C archive && ln -s ${ROOT}/node_modules package/`.cwd(folder)
  for (const path of ['deb/usr/bin/rollcall', 'archive/bin/rollcall', 'package/bin/rollcall'])
    expect(await Bun.$`${join(folder, path)} --version`.text()).toBe(`${version} (abc1234)\n`)
  expect((await Bun.$`dpkg-deb --field ${deb} Maintainer Homepage`.text()).split('\n').filter(Boolean)).toEqual([
    'Maintainer: owner <owner@users.noreply.git.site.io>',
    'Homepage: https://git.site.io/owner/list',
  ])
  expect(JSON.parse(await Bun.$`tar -xOzf ${tgz} package/package.json`.text())).toMatchObject({
    gitHead: 'abc1234',
    repository: { type: 'git', url: 'git+https://git.site.io/owner/list.git' },
    homepage: 'https://git.site.io/owner/list#readme',
    bugs: 'https://git.site.io/owner/list/issues',
  })
}, 300_000)

/** Writes a release of the next version in a copy of the repository. Returns its folder. */
async function writeNext(next: string): Promise<string> {
  const { root, remove } = createCopy()
  onTestFinished(remove)
  await Bun.$`npm version --no-git-tag-version ${next}`.cwd(root).quiet()
  const script = `import { writeRelease } from './build/release.ts'\nawait writeRelease('${root}/next', ['${HOST_TARGET}'])\n`
  await Bun.write(join(root, 'next.ts'), script)
  const env = { ...process.env, SOURCE_DATE_EPOCH: '1800000000', REVISION: 'abc1234' }
  await Bun.$`${process.execPath} next.ts`.cwd(root).env(env).quiet()
  return join(root, 'next')
}

test('the next version needs one number, and whoever builds it gets the same bytes', async () => {
  const next = '98.7.6'
  const folders = [await writeNext(next), await writeNext(next)]
  const sums = await Promise.all(folders.map((folder) => Bun.file(join(folder, 'SHA256SUMS')).text()))
  expect(sums[0]?.split('\n').length).toBe(7)
  expect(sums[1]).toBe(sums[0] ?? '')

  const folder = folders[0] ?? ''
  await Bun.$`mkdir deb npm && dpkg-deb --extract ${new Bun.Glob('*.deb').scanSync(folder).next().value ?? ''} deb`.cwd(
    folder,
  )
  await Bun.$`tar -xzf rollcall-${next}.tgz -C npm`.cwd(folder)
  expect(await Bun.$`deb/usr/bin/rollcall --version`.cwd(folder).text()).toBe(`${next} (abc1234)\n`)
  // The history says it, and the version of the contract is another number.
  const left = await Bun.$`grep -rIlF ${version} deb npm`.cwd(folder).nothrow().text()
  const known = /CHANGELOG\.md$|hand-over\.md$|webhook\.mjs$|THIRD-PARTY-NOTICES$|program\/cli\.ts$/
  expect(left.split('\n').filter((path) => path && !known.test(path))).toEqual([])
}, 300_000)

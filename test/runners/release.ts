/**
 * `npm run test:only -- release`: writes a release for this machine. Each part of it says which commit it is, and where it
 * comes from.
 */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { HOST_TARGET } from '../../build/executable.ts'
import { listPackages, readManifest } from '../../build/notices.ts'
import { readOrigin } from '../../build/origin.ts'
import { writeRelease } from '../../build/release.ts'
import { version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'

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
  expect(toNames(components)).toEqual(toNames(listPackages().map(readManifest)))

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

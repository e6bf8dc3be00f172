/** The archive with the executable. test/runners/systemd.ts runs the unit. */

import { expect, test } from 'bun:test'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeArchive } from '../../build/installation.ts'
import { readOrigin } from '../../build/origin.ts'
import { findBlock, readText } from '../support/markdown.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

test('the archive has what the lines of the installation use', async () => {
  const folder = await createFolder()
  const executable = join(folder, 'rollcall-linux-x64')
  await writeFile(executable, '#!/bin/sh\necho it runs\n')
  await writeArchive(executable, new Date(1_700_000_000_000))
  const list = await Bun.$`tar -tvf ${executable}.tar.gz`.text()
  expect(list).not.toMatch(/^d/m)
  // Of root by its number: the name of the user who builds means somebody else there.
  const lines = list.trim().split('\n')
  expect(lines.filter((line) => !/^-rw[x-]r-[x-]r-[x-] 0\/0 /.test(line))).toEqual([])
  const programs = lines.filter((line) => line.startsWith('-rwx')).map((line) => line.split(' ').at(-1))
  expect(programs).toEqual(['bin/rollcall', 'share/rollcall/recipes/sync'])
  await Bun.$`tar -xzf ${executable}.tar.gz -C ${folder}`
  expect(await Bun.$`${join(folder, 'bin/rollcall')}`.text()).toBe('it runs\n')

  const { text } = findBlock('docs/deploy.md', 'sh', 'install')
  expect(text.split('\n').filter(Boolean).length).toBe(5)
  const read = (path: string) => Bun.file(join(folder, path)).text()
  const used = text.match(/(?<=\/usr\/local\/)\S+\/\S+/g)
  expect(used).toEqual(['lib/sysusers.d/rollcall.conf'])
  expect(await read('share/doc/rollcall/env')).toBe(readText('deploy/env'))
  const [, program] =
    /^ExecStart=\/usr\/local\/(\S+) serve$/m.exec(await read('lib/systemd/system/rollcall.service')) ?? []
  expect(program).toBe('bin/rollcall')
  expect(await read('lib/sysusers.d/rollcall.conf')).toMatch(/^u rollcall /m)
  const notices = await read('share/doc/rollcall/THIRD-PARTY-NOTICES')
  for (const name of ['Bun ', 'prom-client ', '@fontsource/fraunces ', 'hono '])
    expect(notices).toMatch(new RegExp(`^${name}\\d`, 'm'))
  for (const license of ['SIL OPEN FONT LICENSE', 'GNU LIBRARY GENERAL PUBLIC', 'Mozilla Public License Version 2.0'])
    expect(notices).toContain(license)
  // The build needs no packages of the development. Its copy is that of the version that they have.
  expect(readText('build/licenses/bun.mdx')).toBe(readText('node_modules/bun-types/docs/project/license.mdx'))
})

test('the same commit gives the same bytes, whoever packs it, and whenever', async () => {
  const pack = async () => {
    const executable = join(await createFolder(), 'rollcall-linux-x64')
    await writeFile(executable, 'the program')
    // Another umask, and another time of the file.
    await chmod(executable, 0o600)
    await writeArchive(executable, new Date(1_700_000_000_000))
    return readFile(`${executable}.tar.gz`)
  }
  const first = await pack()
  await until(() => Date.now() % 1000 < 100, 'another second')
  expect(Bun.SHA256.hash(await pack(), 'hex')).toBe(Bun.SHA256.hash(first, 'hex'))
  expect(readOrigin({ SOURCE_DATE_EPOCH: '1700000000' }).date).toEqual(new Date(1_700_000_000_000))
})

/** `npm run test:only -- restic`: runs the blocks of docs/backup.md for restic, with a repository in a folder in the place of another machine. */

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { findBlock, readText } from '../support/markdown.ts'

test('restic takes backups, settings and cursor files, and gives a backup back that can be restored', async () => {
  const { folder, print, rows, shell } = await createCliFixture()
  const toHere = (text: string) =>
    text
      .replaceAll('sftp:backup@vault.example.org:/srv/rollcall', join(folder, 'repository'))
      .replaceAll('/root/', `${folder}/`)
      .replaceAll('/var/lib/rollcall', join(folder, 'state'))
      .replaceAll('/etc/rollcall', join(folder, 'settings'))
      .replace(/^sudo apt install restic$/m, '')
      .replace(/^sudo /gm, '')
  const run = async (text: string) => {
    const { code, stderr } = await shell(`set -eu; export RESTIC_CACHE_DIR=${folder}/cache\n${toHere(text)}`)
    expect([code, stderr]).toEqual([0, ''])
  }
  mkdirSync(join(folder, 'state/backups'), { recursive: true })
  mkdirSync(join(folder, 'settings'))
  for (const name of ['settings/site.yaml', 'state/sync.cursor', 'state/rollcall.db', 'state/rollcall.db-wal'])
    writeFileSync(join(folder, name), '')
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  await print(['backup', 'state/backups/list.db'])
  await run(findBlock('docs/backup.md', 'sh', 'restic-init.sh').text)
  const nightly = findBlock('docs/backup.md', 'sh', 'restic.sh').text
  await run(nightly)
  // The next night, after the list has changed.
  await print(['import', '-'], 'cyn@site.io\n')
  await print(['backup', 'state/backups/list.db'])
  await run(nightly)

  await print(['remove', 'ada@site.io', 'bob@site.io', 'cyn@site.io'])
  const [command = ''] = /restic restore latest --target \/root\/restored/.exec(readText('docs/backup.md')) ?? []
  const settings = nightly.match(/^export .*$/gm) ?? []
  await run([...settings, command].join('\n'))
  const restored = readdirSync(join(folder, 'restored', folder), { recursive: true }).map(String)
  // A copy of a list that the service writes may be torn.
  const files = ['settings/site.yaml', 'state/backups/list.db', 'state/sync.cursor']
  expect(restored.filter((name) => /\.[a-z-]+$/.test(name)).sort()).toEqual(files)
  await print(['restore', join(folder, 'restored', folder, 'state/backups/list.db')])
  expect((await rows()).map(({ email }) => email)).toEqual(['ada@site.io', 'bob@site.io', 'cyn@site.io'])
})

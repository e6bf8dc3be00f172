/** A list with two names: SQLite keeps a log for each, so a process that uses the other name would lose what this one confirms. */

import { expect, test } from 'bun:test'
import { linkSync, readdirSync, rmSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { toListFile } from '../../support/list-file.ts'
import { runCommand, startService } from '../../support/service.ts'
import { createFolder } from '../../support/workspace.ts'

const COMMANDS: readonly (readonly string[])[] = [
  ['import', '-'],
  ['count'],
  ['remove', 'ada@site.io'],
  ['backup', 'copy.db'],
  ['serve'],
]

test('nobody uses a list by one name while a service uses it by another one', async () => {
  const other = join(await realpath(await createFolder()), 'other.db')
  const service = await startService()
  expect((await service.subscribe('ada@site.io')).status).toBe(200)
  linkSync(toListFile(service.folder), other)
  const env = { DATABASE_URL: `sqlite:${other}`, BASE_URL: 'http://localhost', PORT: '0' }
  const reason = 'another process uses it by another name, a hard link: use that name, and delete this one'
  for (const args of COMMANDS) {
    expect([args, await runCommand(args, { env, folder: join(other, '..'), stdin: 'bob@site.io\n' })]).toEqual([
      args,
      { code: 1, stdout: '', stderr: `rollcall: the list ${other} cannot be used: ${reason}\n` },
    ])
  }
  // By its own name, it is used as before.
  const own = { DATABASE_URL: `sqlite:${toListFile(service.folder)}` }
  expect(await runCommand(['import', '-'], { env: own, stdin: 'bob@site.io\n' })).toMatchObject({ code: 0 })
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  await service.stop()
  // Now nobody uses it, so each name is right, one after the other.
  expect(await runCommand(['count'], { env })).toEqual({ code: 0, stdout: '3\n', stderr: '' })
  expect(readdirSync(join(other, '..'))).toEqual(['other.db'])
  rmSync(other)
})

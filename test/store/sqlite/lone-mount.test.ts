/** A list that is mounted without its folder, as one file of a container: its log would be gone with the container. */

import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM } from '../../support/program.ts'
import { createFolder } from '../../support/workspace.ts'

const UNSHARE = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const canMount = Bun.spawnSync([...UNSHARE, 'true']).success

/** Runs commands where a file of the host is the list, in a folder on the same file system or on another one. */
function runMounted(folder: string, { mount, commands }: { mount: string; commands: string }) {
  const script = `set -e; mkdir -p data; ${mount}; touch data/list.db; mount --bind host.db data/list.db; set +e; ${commands}`
  const env = {
    PATH: process.env.PATH,
    ENV_FILE: '/dev/null',
    DATABASE_URL: 'sqlite:data/list.db',
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:3000',
  }
  const command = [...UNSHARE, 'bash', '-c', `rollcall() { '${PROGRAM}' "$@"; }; ${script}`]
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: folder, env })
  return { exitCode, output: `${stdout}${stderr}` }
}

// Where the system lets this user mount nothing, the test is reported as skipped.
const FOLDERS = { 'the same file system': 'true', 'another file system': 'mount -t tmpfs none data' }
test.skipIf(!canMount).each(Object.entries(FOLDERS))('its folder is on %s', async (_, mount) => {
  // The system writes some letters of a path in another way (proc_pid_mountinfo(5)).
  const folder = join(await createFolder(), 'my lists')
  mkdirSync(folder)
  const refusal = `the list ${folder}/data/list.db cannot be used: only this file is mounted, and its write-ahead log, which has the latest addresses, would be lost with ${folder}/data: mount a folder at ${folder}/data, with the list in it`
  writeFileSync(join(folder, 'host.db'), '')
  expect(runMounted(folder, { mount, commands: 'rollcall serve' })).toEqual({
    exitCode: 1,
    output: expect.stringContaining(refusal),
  })
  expect(readFileSync(join(folder, 'host.db'), 'utf8')).toBe('')
  expect(runMounted(folder, { mount, commands: 'rollcall doctor' }).output).toContain(
    `list           wrong: ${refusal}`,
  )
  expect(runMounted(folder, { mount, commands: 'rollcall count' }).output).toContain(refusal)
  // A file that was a list before.
  mkdirSync(join(folder, 'other'))
  const create = `echo ada@site.io | rollcall import - --list sqlite:other/list.db; cp other/list.db host.db`
  runMounted(folder, { mount: create, commands: 'true' })
  for (const verb of ['count', 'remove ada@site.io', 'export'])
    expect(runMounted(folder, { mount, commands: `rollcall ${verb}` })).toEqual({
      exitCode: 1,
      output: expect.stringContaining(refusal),
    })
  // A backup has no log, and may be mounted alone.
  const backup = 'rollcall backup host.db --list sqlite:other/list.db'
  const commands = 'rollcall count; rollcall restore data/list.db --list sqlite:restored.db'
  const { exitCode, output } = runMounted(folder, { mount: `${mount}; rm host.db; ${backup}`, commands })
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringContaining('\n1\n') })
})

/**
 * `npm run test:only -- systemd`: checks the systemd unit with systemd-analyze, and runs the service with its filter
 * of system calls, as a user without rights, on a read-only file system. No systemd needs to run. EXECUTABLE in the environment is an executable to run instead of the sources.
 */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { chown, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findBlock, readText } from '../support/markdown.ts'
import { CLI, ROOT } from '../support/paths.ts'
import { startService } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const { EXECUTABLE } = process.env
const program = EXECUTABLE ? [resolve(EXECUTABLE)] : [process.execPath, CLI]
const text = readText('deploy/rollcall.service')

/** Returns the values of a setting of the unit, in order. */
const readSetting = (key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

/** Runs systemd-analyze, which must exit with 0. Returns its output. */
function analyze(...args: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['systemd-analyze', ...args])
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, expect.anything()])
  return `${stdout}${stderr}`
}

test('systemd knows every setting of the units, and the exposure of each service is at most 2.0', async () => {
  const folder = await createFolder()
  const units = readdirSync(join(ROOT, 'deploy')).filter((name) => /\.(?:service|timer)$/.test(name))
  expect(units).toHaveLength(8)
  for (const name of units) {
    const unit = readText(`deploy/${name}`).replace(/^ExecStart=\/usr\/local\S+/m, `ExecStart=${process.execPath}`)
    await writeFile(join(folder, name.replace('@', '@garden')), unit)
  }
  for (const name of units) {
    const unit = join(folder, name.replace('@', '@garden'))
    expect(analyze('verify', '--man=no', unit)).toBe('')
    if (name.endsWith('.service')) analyze('security', '--offline=true', '--no-pager', '--threshold=20', unit)
  }
})

test('systemd accepts the unit of the guide that hands over, and its exposure is at most 2.0', async () => {
  const folder = await createFolder()
  const unit = join(folder, 'rollcall-export.service')
  const { text: script } = findBlock('docs/hand-over.md', 'sh', 'unit')
  const programs = 'systemctl() { cat deploy/rollcall.service; }; sudo() { "$@"; }\n'
  const { exitCode } = Bun.spawnSync(['sh', '-euc', programs + script.replaceAll('/etc/systemd/system', folder)], {
    cwd: ROOT,
  })
  expect(exitCode).toBe(0)
  const { text: changes } = findBlock('docs/hand-over.md', 'ini', 'export.conf')
  await writeFile(`${unit}.d/export.conf`, changes.replace('ExecStart=rollcall', `ExecStart=${process.execPath}`))
  expect(analyze('verify', '--man=no', unit)).toBe('')
  analyze('security', '--offline=true', '--no-pager', '--threshold=20', unit)
})

test('the service works with the restrictions of the unit, and ExecStartPost knows when it is ready', async () => {
  const folder = await createFolder()
  await chown(folder, 65_534, 65_534)
  const env = { OPS_PORT: '0', DATABASE_URL: `sqlite:${folder}/list.db` }
  const service = await startService({ folder, env, command: [...createSandbox(folder), ...program, 'serve'] })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect((await service.request('/openapi.json')).status).toBe(200)
  const metrics = await (await service.ops('/metrics')).text()
  expect(metrics).toMatch(/^process_resident_memory_bytes \d{6,}/m)

  const [shell = ''] = readSetting('ExecStartPost')
  const script = shell.replace(/^\/bin\/sh -c '(.*)'$/, '$1').replace('/usr/local/bin/rollcall', program.join(' '))
  const wait = (own: Record<string, string>) =>
    Bun.spawnSync(['sh', '-c', script], { env: { PATH: process.env.PATH ?? '', ...own }, stderr: 'ignore' }).exitCode
  const running = { MAINPID: String(service.process.pid), OPS_PORT: String(service.opsPort) }
  const { MAINPID } = running
  expect([wait(running), wait({ MAINPID, PORT: String(service.port) })]).toEqual([0, 0])
  expect(await service.stop()).toBe(0)
  expect(wait(running)).toBe(1)
  // The list is new, which the log says.
  expect([...service.log().matchAll(/"level":[456]0.*?"msg":"([^:"]*)/g)].map(([, text]) => text)).toEqual([
    'a new, empty list was created',
  ])
})

/** Returns a command that runs its last arguments with the restrictions of the unit. Only the folder can be written. */
function createSandbox(folder: string): readonly string[] {
  const script = `
    mount --bind "$0" "$0"
    mount -o remount,bind,ro /
    mount -t proc -o subset=pid,hidepid=invisible proc /proc
    exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`
  const families = readSetting('RestrictAddressFamilies').join(' ').replaceAll(' ', ',')
  // A python3 in the folder of a user cannot be read by others.
  const filter = ['/usr/bin/python3', join(import.meta.dir, 'sandbox.py'), listAllowedCalls().join(), families]
  return ['unshare', '--mount', '--propagation=private', 'sh', '-euc', script, folder, ...filter]
}

/** Lists the system calls that the unit allows: later lines take from earlier ones (systemd.exec(5)). */
function listAllowedCalls(): readonly string[] {
  const allowed = new Set<string>()
  for (const value of readSetting('SystemCallFilter')) {
    for (const name of value.replace('~', '').split(' ').flatMap(resolveGroup)) {
      value.startsWith('~') ? allowed.delete(name) : allowed.add(name)
    }
  }
  return [...allowed]
}

function resolveGroup(name: string): string[] {
  if (!name.startsWith('@')) return [name]
  const lines = analyze('syscall-filter', name).split('\n').slice(1)
  const names = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return names.flatMap(resolveGroup)
}

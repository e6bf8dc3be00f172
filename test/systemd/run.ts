/**
 * `npm run test:systemd [EXECUTABLE]`: checks the systemd unit with systemd-analyze, and runs the service with its filter
 * of system calls, as a user without rights, on a read-only file system. No systemd needs to run, but the user must be root.
 * Exit code 1 when something is missing, or when a check fails.
 */

import { chown, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readText } from '../support/markdown.ts'
import { CLI, requirePrograms } from '../support/paths.ts'
import { createFolder, endServices, startService } from '../support/service.ts'

/** The highest exposure that is accepted, in tenths: `--threshold` of systemd-analyze(1). */
const MAX_EXPOSURE = 20

const NOBODY = 65_534

process.once('exit', endServices)
requirePrograms({ 'systemd-analyze': 'systemd', unshare: 'util-linux', setpriv: 'util-linux', python3: 'python3' })
expect(process.getuid?.() === 0, 'run it as root: it mounts a file system of its own')

const [executable] = process.argv.slice(2)
const program = executable ? [resolve(executable)] : [process.execPath, CLI]
const text = readText('deploy/rollcall.service')
const folder = await createFolder()
await chown(folder, NOBODY, NOBODY)

const unit = join(folder, 'rollcall.service')
await writeFile(unit, text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
const problems = analyze('verify', '--man=no', unit)
expect(problems === '', problems)
const exposure = analyze('security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, unit)
console.log(/Overall exposure level.*: ([\d.]+)/.exec(exposure)?.[0])

const env = { OPS_PORT: '0', DATABASE_URL: `sqlite:${folder}/list.db` }
const service = await startService({ folder, env, command: [...createSandbox(), ...program, 'serve'] })
expect((await service.subscribe('ada@example.org')).status === 200, 'an address is accepted')
expect((await service.request('/openapi.json')).status === 200, 'a document is served')
const metrics = await (await fetch(`http://127.0.0.1:${service.opsPort}/metrics`)).text()
expect(/^process_resident_memory_bytes \d{6,}/m.test(metrics), 'the metrics have the memory of the process')

// The command of ExecStartPost: ready, no longer running, and without the setting that it needs.
const [shell = ''] = readSetting('ExecStartPost')
const script = shell.replace(/^\/bin\/sh -c '(.*)'$/, '$1').replace('/usr/local/bin/rollcall', program.join(' '))
const wait = (own: Record<string, string>) =>
  Bun.spawnSync(['sh', '-c', script], { env: { PATH: process.env.PATH ?? '', ...own }, stderr: 'ignore' }).exitCode
const running = { MAINPID: String(service.process.pid), OPS_PORT: String(service.opsPort) }
expect(wait(running) === 0, 'ExecStartPost ends when the service is ready')
expect(wait({ MAINPID: running.MAINPID }) === 1, 'ExecStartPost fails without OPS_PORT')
expect((await service.stop()) === 0, 'the service stops with exit code 0')
expect(wait(running) === 1, 'ExecStartPost fails when the service has ended')
expect(!/"level":[456]0/.test(service.log()), `there is no warning in the log:\n${service.log()}`)
await rm(folder, { recursive: true })
console.log('the service works with the filter of system calls, without capabilities, on a read-only file system')

/** Returns the values of a setting of the unit, in order. */
function readSetting(key: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line.startsWith(`${key}=`))
  return lines.map((line) => line.slice(key.length + 1))
}

/** Returns a command that runs its last arguments with the restrictions of the unit. Only the folder can be written. */
function createSandbox(): readonly string[] {
  const script = `
    mount --bind "$0" "$0"
    mount -o remount,bind,ro /
    mount -t proc -o subset=pid,hidepid=invisible proc /proc
    exec "$@"`
  const privileges = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  const families = readSetting('RestrictAddressFamilies').join(' ').replaceAll(' ', ',')
  return [
    ...['unshare', '--mount', '--propagation=private', 'sh', '-euc', script, folder],
    ...['setpriv', ...privileges, '--inh-caps=-all'],
    // A python3 in the folder of a user cannot be read by others.
    ...['/usr/bin/python3', join(import.meta.dir, 'sandbox.py'), [...readAllowedCalls()].join(), families],
  ]
}

/** Returns the system calls that the unit allows: later lines take from earlier ones (systemd.exec(5)). */
function readAllowedCalls(): Set<string> {
  const allowed = new Set<string>()
  for (const value of readSetting('SystemCallFilter')) {
    const names = value.replace('~', '').split(' ').flatMap(resolveGroup)
    for (const name of names) value.startsWith('~') ? allowed.delete(name) : allowed.add(name)
  }
  return allowed
}

function resolveGroup(name: string): string[] {
  if (!name.startsWith('@')) return [name]
  const lines = analyze('syscall-filter', name).split('\n').slice(1)
  const names = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return names.flatMap(resolveGroup)
}

/** Runs systemd-analyze and returns its output. Ends the process unless it exits with 0. */
function analyze(...args: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['systemd-analyze', ...args])
  expect(exitCode === 0, `systemd-analyze ${args.join(' ')}:\n${stdout}${stderr}`)
  return `${stdout}${stderr}`
}

function expect(holds: boolean, what: string): void {
  if (holds) return
  console.error(`failed: ${what}`)
  process.exit(1)
}

/**
 * The restrictions of the systemd unit without systemd, as far as a test can set them: the filter of system calls, the
 * families of sockets, no capabilities, a user without rights, and a file system and /proc of its own.
 */

import { join } from 'node:path'
import { readSetting } from './unit.ts'

/** Returns a command that runs its last arguments with these restrictions. Only `folder` can be written. */
export function createSandbox(folder: string): readonly string[] {
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
  const { stdout, exitCode } = Bun.spawnSync(['systemd-analyze', 'syscall-filter', name])
  if (exitCode !== 0) throw new Error(`systemd-analyze does not know ${name}`)
  const lines = stdout.toString().split('\n').slice(1)
  const names = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return names.flatMap(resolveGroup)
}

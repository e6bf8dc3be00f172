/**
 * `npm run test:systemd [EXECUTABLE]`: checks the systemd unit with systemd-analyze, and runs the service with its
 * restrictions, from the sources or as an executable.
 *
 * Not part of `npm test`: the programs must be installed, and the user must be root. No systemd needs to run. Exit code 1
 * when something is missing, or when a check fails.
 */

import { chown, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openNotifySocket } from '../support/notify-socket.ts'
import { CLI } from '../support/paths.ts'
import { requirePrograms } from '../support/programs.ts'
import { createFolder, endServices, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createSandbox } from './sandbox.ts'
import { toLocalUnit } from './unit.ts'

/** The highest exposure that is accepted, in tenths: `--threshold` of systemd-analyze(1). */
const MAX_EXPOSURE = 20

const NOBODY = 65_534

const [executable] = process.argv.slice(2)

process.once('exit', endServices)
requirePrograms({ 'systemd-analyze': 'systemd', unshare: 'util-linux', setpriv: 'util-linux', python3: 'python3' })
if (process.getuid?.() !== 0) {
  console.error('run it as root: it mounts a file system of its own')
  process.exit(1)
}

const folder = await createFolder()
await chown(folder, NOBODY, NOBODY)
const unit = join(folder, 'rollcall.service')
await writeFile(unit, toLocalUnit(process.execPath))

analyze('verify', '--man=no', unit)
const exposure = analyze('security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, unit)
console.log(/Overall exposure level.*: ([\d.]+)/.exec(exposure)?.[0])

const socket = openNotifySocket(`@rollcall-systemd-${process.pid}`)
const service = await startService({
  folder,
  command: [...createSandbox(folder), ...(executable ? [resolve(executable)] : [process.execPath, CLI]), 'serve'],
  env: {
    NOTIFY_SOCKET: `@rollcall-systemd-${process.pid}`,
    WATCHDOG_USEC: '200000',
    OPS_PORT: '0',
    DATABASE_URL: `sqlite:${folder}/list.db`,
  },
})
expect((await service.subscribe('ada@example.org')).status === 200, 'an address is accepted')
expect((await service.request('/openapi.json')).status === 200, 'a document is served')
const metrics = await (await fetch(`http://127.0.0.1:${service.opsPort}/metrics`)).text()
expect(/^process_resident_memory_bytes \d{6,}/m.test(metrics), 'the metrics have the memory of the process')
await until(() => socket.read().includes('WATCHDOG=1'), 'WATCHDOG=1')
expect((await service.stop()) === 0, 'the service stops with exit code 0')
expect(socket.read()[0] === 'READY=1' && socket.read().includes('STOPPING=1'), 'READY=1 and STOPPING=1 are sent')
expect(!/"level":[456]0/.test(service.log()), `there is no warning in the log:\n${service.log()}`)
socket.close()
await rm(folder, { recursive: true })
console.log('the service works with the filter of system calls, without capabilities, on a read-only file system')

/** Runs systemd-analyze. Ends the process unless it exits with 0 and, for `verify`, prints nothing. */
function analyze(verb: string, ...args: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['systemd-analyze', verb, ...args])
  const text = `${stdout}${stderr}`
  expect(exitCode === 0 && (verb !== 'verify' || text === ''), `systemd-analyze ${verb}:\n${text}`)
  return text
}

function expect(holds: boolean, what: string): void {
  if (holds) return
  console.error(`failed: ${what}`)
  process.exit(1)
}

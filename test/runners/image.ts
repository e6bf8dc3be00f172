/**
 * `npm run test:only -- image`: builds the image from the sources with buildah, without a daemon, and runs it as a
 * container does: as PID 1, as the user of the image, and on a read-only root file system. Its first stage is on a root with
 * the Node of this machine, so only packages come from the network. Exit code 1 when a check fails.
 */

import { strict as assert } from 'node:assert'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/paths.ts'
import { runCommand, startService } from '../support/service.ts'
import { within } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

const folder = await createFolder()
const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
try {
  build()
  const container = buildah('from', '--pull-never', 'rollcall').trim()
  const root = buildah('mount', container).trim()
  const { User, Env } = checkConfig()
  await checkService(root, User, Env)
  console.log(`size: ${Math.round(Number(run(['du', '--summarize', '--bytes', root]).split('\t')[0]) / 1e6)} MB`)
  buildah('umount', container)
} finally {
  await rm(folder, { recursive: true })
}

function build(): void {
  const base = buildah('from', '--name', 'node', 'scratch').trim()
  copyNode(buildah('mount', base).trim())
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  const variables = ['HOME=/root', ...(certificates ? [`NODE_EXTRA_CA_CERTS=${certificates}`] : [])]
  buildah('config', ...variables.flatMap((variable) => ['--env', variable]), base)
  buildah('commit', '--rm', base, 'localhost/node')
  const options = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--tag', 'rollcall']
  const values = ['BUILDER=localhost/node', `VERSION=${version}`, 'REVISION=abc1234']
  buildah('build', ...options, ...values.flatMap((value) => ['--build-arg', value]), ROOT)
}

/** Copies Node and npm of this machine, what they run, and the settings of npm to a root. */
function copyNode(root: string): void {
  const programs = [realpathSync(Bun.which('node') ?? ''), '/bin/sh', '/bin/bash', '/usr/bin/env', '/usr/bin/ldd']
  const libraries = programs.flatMap((program) =>
    [
      ...Bun.spawnSync(['ldd', program])
        .stdout.toString()
        .matchAll(/(\/\S+) \(0x/g),
    ].map(([, path = '']) => path),
  )
  const settings = ['userconfig', 'globalconfig'].map((name) => run(['npm', 'config', 'get', name]).trim())
  const files = [...settings, process.env.NODE_EXTRA_CA_CERTS ?? '', '/etc/ssl/certs/ca-certificates.crt']
  for (const file of [...programs, ...libraries, ...files.filter((name) => existsSync(name))]) {
    cpSync(realpathSync(file), join(root, file))
  }
  for (const [folder, mode] of [
    ['tmp', 0o1777],
    ['usr/bin', 0o755],
    ['usr/lib/node_modules', 0o755],
  ] as const)
    mkdirSync(join(root, folder), { recursive: true, mode })
  cpSync(resolve(realpathSync(Bun.which('npm') ?? ''), '../..'), join(root, 'usr/lib/node_modules/npm'), {
    recursive: true,
  })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'))
  if (!existsSync(join(root, 'usr/bin/node'))) symlinkSync(programs[0] ?? '', join(root, 'usr/bin/node'))
}

/** Checks the configuration (Docker Image Specification 1.3), and returns a part of it. */
function checkConfig(): { readonly User: string; readonly Env: readonly string[] } {
  const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'rollcall')).Docker
  const { User, Entrypoint, Cmd, Volumes, StopSignal, Labels, Healthcheck } = config
  assert.equal(User, '65532:65532')
  assert.deepEqual([...Entrypoint, ...Cmd], ['rollcall', 'serve'])
  assert.deepEqual(Object.keys(Volumes), ['/data'])
  assert.equal(StopSignal, 'SIGTERM')
  assert.deepEqual(Healthcheck.Test, ['CMD', 'rollcall', 'healthcheck'])
  assert.equal(Labels['org.opencontainers.image.version'], version)
  assert.equal(Labels['org.opencontainers.image.revision'], 'abc1234')
  console.log('configuration: user, command, volume, signal, health check and labels')
  return config
}

async function checkService(root: string, user: string, variables: readonly string[]): Promise<void> {
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  assert.equal(statSync(join(root, 'data')).uid, uid)
  assert.match(readFileSync(join(root, 'usr/share/doc/rollcall/THIRD-PARTY-NOTICES'), 'utf8'), /SIL OPEN FONT LICENSE/)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, uid, gid)
  const env = { ...Object.fromEntries(variables.map((line) => line.split(/=(.*)/s, 2))), OPS_PORT: '0' }
  const chroot = `/usr/sbin/chroot --userspec=${user}`

  // A container runtime does the same: namespaces, mounts, the user, and the program as PID 1.
  const script = [
    'export PATH=/usr/sbin:/usr/bin:/bin',
    `mkdir -p ${root}/proc ${root}/dev`,
    `mount --bind ${root} ${root}`,
    `mount --bind ${data} ${root}/data`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t proc proc ${root}/proc`,
    `mount -o remount,bind,ro ${root}`,
    `cd ${root} && exec ${chroot} ${root} /usr/local/bin/rollcall serve`,
  ].join(' && ')
  const command = ['/usr/bin/unshare', '--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-c', script]
  const service = await startService({ folder, command, env })
  const { pid } = service.process
  const [inner = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  const status = readFileSync(`/proc/${inner}/status`, 'utf8')
  assert.match(status, /^NSpid:.*\t1$/m)
  assert.match(status, new RegExp(`^Uid:\t${uid}\t${uid}`, 'm'))
  assert.equal((await service.subscribe('ada@example.org')).status, 200)
  assert.equal((await fetch(service.origin)).status, 200)
  console.log('serves as PID 1, as the user of the image, on a read-only root file system')

  // As `docker exec` does.
  const enter = ['/usr/bin/nsenter', '--target', inner, '--mount', '--pid', '--root', '--wd']
  const program = [...enter, '--setuid', `${uid}`, '--setgid', `${gid}`, '/usr/local/bin/rollcall']
  const check = await runCommand(['healthcheck'], { program, env: { ...env, OPS_PORT: `${service.opsPort}` } })
  assert.deepEqual(check, { code: 0, stdout: 'ok\n', stderr: '' })
  process.kill(Number(inner), 'SIGTERM')
  assert.equal(await within(service.process.exited, 'the service ends after SIGTERM'), 0)
  assert.deepEqual(readdirSync(data), ['rollcall.db'])
  console.log('the health check passes; after SIGTERM, the list is in the volume, and closed')
}

function buildah(...args: readonly string[]): string {
  return run(['buildah', ...storage, ...args])
}

/** Runs a program. @throws Error with what it printed when it fails */
function run(command: readonly string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd: ROOT })
  if (!success) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return stdout.toString()
}

/**
 * `npm run test:only -- image`: builds the image from the sources, and runs it as a container does: as PID 1, as the user of
 * the image, and on a read-only root file system. Then it publishes the image to a registry. Exit code 1 when a check fails.
 */

import { strict as assert } from 'node:assert'
import { chownSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { findProgram, ROOT, toSupportFile } from '../support/paths.ts'
import { runCommand, startService } from '../support/service.ts'
import { until, within } from '../support/wait.ts'
import { createFolder, findPort } from '../support/workspace.ts'
import { buildah, buildImage, run, SOURCE } from './build-image.ts'

const folder = await createFolder()
const REVISION = run(['git', 'rev-parse', 'HEAD']).trim()
/** Of the registry. */
const CERTIFICATE = toSupportFile('certificate/localhost.crt')

try {
  await buildImage(folder)
  const container = buildah('from', '--pull-never', 'rollcall').trim()
  const root = buildah('mount', container).trim()
  const { User, Env } = checkConfig()
  await checkService(root, User, Env)
  console.log(`size: ${Math.round(Number(run(['du', '--summarize', '--bytes', root]).split('\t')[0]) / 1e6)} MB`)
  await checkPublishing(container)
} finally {
  await rm(folder, { recursive: true })
}

/**
 * Publishes the image of this machine and one that stands for that of another one, twice, to a registry of its own.
 *
 * @param container a container of the image
 */
async function checkPublishing(container: string): Promise<void> {
  const port = findPort()
  const registry = Bun.spawn([findProgram('docker-registry') ?? '', 'serve', await writeRegistry(port)], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  // buildah trusts it.
  process.env.SSL_CERT_FILE = CERTIFICATE
  delete process.env.SSL_CERT_DIR
  const tls = { ca: Bun.file(CERTIFICATE) }
  const origin = `https://localhost:${port}`
  try {
    await until(() =>
      fetch(`${origin}/v2/`, { tls }).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const release = join(folder, 'release')
    for (const path of ['.ci', 'dist/release', 'dist/images']) mkdirSync(join(release, path), { recursive: true })
    cpSync(join(ROOT, '.ci/publish'), join(release, '.ci/publish'))
    run(['npm', 'pack', '--silent', '--pack-destination', join(release, 'dist/release')])
    const name = `${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.tar`
    renameSync(join(ROOT, 'dist/images', name), join(release, 'dist/images', name))
    const other = process.arch === 'x64' ? 'arm64' : 'amd64'
    buildah('config', '--arch', other, container)
    buildah('commit', '--format', 'docker', container, 'localhost/other')
    buildah('push', 'localhost/other', `docker-archive:${release}/dist/images/other.tar`)

    // A release that failed after this step runs it again.
    const published = [1, 2].map(() => run([join(release, '.ci/publish'), 'image', `localhost:${port}/Owner/rollcall`]))
    const [, digest = ''] = /^digest=(sha256:\w+)$/m.exec(published[1] ?? '') ?? []
    const accept = 'application/vnd.docker.distribution.manifest.list.v2+json'
    for (const tag of [version, version.replace(/\.\d+$/, ''), 'latest']) {
      const response = await fetch(`${origin}/v2/owner/rollcall/manifests/${tag}`, { headers: { accept }, tls })
      assert.equal(response.headers.get('docker-content-digest'), digest)
      const { manifests } = (await response.json()) as { manifests: { platform: { architecture: string } }[] }
      assert.deepEqual(manifests.map(({ platform }) => platform.architecture).sort(), ['amd64', 'arm64'])
    }
    assert.match(published[0] ?? '', new RegExp(`^name=localhost:${port}/owner/rollcall\ndigest=${digest}$`, 'm'))
    console.log('published for amd64 and arm64, with three tags, and published again with the same digest')
  } finally {
    registry.kill()
    await registry.exited
  }
}

/** Writes the settings of a registry. Returns their path. */
async function writeRegistry(port: number): Promise<string> {
  const file = join(folder, 'registry.yml')
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } }
  const tls = { certificate: CERTIFICATE, key: toSupportFile('certificate/localhost.key') }
  await Bun.write(file, JSON.stringify({ version: 0.1, storage, http: { addr: `localhost:${port}`, tls } }))
  return file
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
  assert.equal(Labels['org.opencontainers.image.revision'], REVISION)
  assert.equal(Labels['org.opencontainers.image.source'], SOURCE)
  console.log('configuration: user, command, volume, signal, health check and labels')
  return config
}

async function checkService(root: string, user: string, variables: readonly string[]): Promise<void> {
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  assert.equal(statSync(join(root, 'data')).uid, uid)
  assert.match(readFileSync(join(root, 'usr/share/doc/rollcall/THIRD-PARTY-NOTICES'), 'utf8'), /SIL OPEN FONT LICENSE/)
  assert.equal(run([join(root, 'usr/local/bin/rollcall'), '--version']), `${version} (${REVISION})\n`)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, uid, gid)
  const env = { ...Object.fromEntries(variables.map((line) => line.split(/=(.*)/s, 2))), OPS_PORT: '0' }
  const chroot = `/usr/sbin/chroot --userspec=${user}`

  const backup = join(folder, 'backup')
  mkdirSync(backup, { mode: 0o700 })

  // A container runtime does the same: namespaces, mounts, the user, and the program as PID 1.
  const mounts = [
    'export PATH=/usr/sbin:/usr/bin:/bin',
    `mkdir -p ${root}/proc ${root}/dev ${root}/backup`,
    `mount --bind ${root} ${root}`,
    `mount --bind ${data} ${root}/data`,
    `mount --bind ${backup} ${root}/backup`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t proc proc ${root}/proc`,
    `mount -o remount,bind,ro ${root}`,
    `cd ${root}`,
  ].join(' && ')
  const toCommand = (args: string) => {
    const script = `${mounts} && exec ${chroot} ${root} /usr/local/bin/rollcall ${args}`
    return ['/usr/bin/unshare', '--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-c', script]
  }
  const service = await startService({ folder, command: toCommand('serve'), env })
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
  assert.equal((await runCommand(['backup', '/data/backup.db'], { program, env })).code, 0)
  process.kill(Number(inner), 'SIGTERM')
  assert.equal(await within(service.process.exited, 'the service ends after SIGTERM'), 0)
  assert.deepEqual(readdirSync(data).sort(), ['backup.db', 'rollcall.db'])
  console.log('the health check passes; after SIGTERM, the list is in the volume, and closed')

  // The steps of docs/containers.md, on another machine.
  renameSync(join(data, 'backup.db'), join(backup, 'backup.db'))
  chownSync(backup, uid, gid)
  await rm(join(data, 'rollcall.db'))
  const runOnce = (args: string) => runCommand([], { program: toCommand(args), env })
  assert.equal((await runOnce('restore /backup/backup.db')).code, 0)
  assert.match((await runOnce('count --json')).stdout, /"reserved":1,/)
  console.log('a backup of the container is restored in another one')
}

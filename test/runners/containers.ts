/**
 * `npm run test:only -- containers`: lives with the image for a day, as docs/containers.md says, block by block. The client of
 * Docker and Compose are the real ones, and the containers are Podman's, whose service speaks the API of Docker. All runs as
 * root in a network and in mounts of its own, so nothing of the machine changes.
 */

import { expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBlock, readText } from '../support/markdown.ts'
import { findProgram, ROOT } from '../support/paths.ts'
import { createFolder } from '../support/workspace.ts'
import { buildImage } from './build-image.ts'
import { findServer } from './postgres.ts'
import { buildPostgres } from './postgres-image.ts'

/** Podman as root without systemd, and without control groups, which an outer container may not offer. */
const CONTAINERS_CONF = `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
`

/** The name of the project in compose.yaml. */
const [, PROJECT = ''] = /^name: (\w+)$/m.exec(readText('compose.yaml')) ?? []

const [DOCKER, PODMAN] = [findProgram('docker'), findProgram('podman')]

/**
 * Programs that are replaced. Debian's Compose is version 1: it does not know `name`, `compose cp` and the links of `run`, so
 * these become commands of Docker on the same container and volume.
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  sudo: 'exec "$@"',
  git: 'test "$*" = pull',
  podman: `if [ "$1" = build ]; then exit 0; fi; exec ${PODMAN} "$@"`,
  docker: `
    if [ "$1" = build ]; then exit 0; fi
    if [ "$1" != compose ]; then exec ${DOCKER} "$@"; fi
    shift
    project=${PROJECT}
    if [ "$1" = --project-name ]; then project=$2; shift 2; fi
    settings=.env
    if [ "$1" = --env-file ]; then settings=$2; shift 2; fi
    grep -v '^name:' compose.yaml > compose.1.yaml
    compose() { exec docker-compose --project-name $project --env-file $settings --file compose.1.yaml "$@"; }
    command=$1; shift
    case $command in
      up)
        for argument; do shift; if [ "$argument" != --build ]; then set -- "$@" "$argument"; fi; done
        compose up "$@" ;;
      exec)
        if [ "$1" = --no-TTY ]; then shift; fi
        service=$1; shift
        # The one of Compose 1 does not pass the end of its input on.
        exec ${DOCKER} exec --interactive \${project}_\${service}_1 "$@" ;;
      cp) exec ${DOCKER} cp "$(echo "$1" | sed "s/^rollcall:/\${project}_rollcall_1:/")" "$(echo "$2" | sed "s/^rollcall:/\${project}_rollcall_1:/")" ;;
      run)
        if [ "$4" = rollcall-postgres ]; then compose run -T "$@"; fi
        test "$1 $2 $4" = '--rm --volume rollcall'
        mount=$3; shift 4
        exec ${DOCKER} run --rm --read-only --volume \${project}_data:/data --volume "$mount" rollcall "$@" ;;
      *) compose $command "$@" ;;
    esac`,
}

const block = (name: string) => findBlock('docs/containers.md', 'sh', name).text

const WORKS = (port: number) => `
for try in $(seq 100); do curl --silent --fail --output page.html http://localhost:${port}/ && break; sleep 0.2; done
curl --silent --show-error --fail --output page.html http://localhost:${port}/`

const subscribe = (port: number, email: string) =>
  `curl --silent --show-error --fail --data email=${email} --output after.html http://localhost:${port}/`

/** Prints the output of a command behind a mark. A failure ends the day. */
const show = (mark: string, command: string) => `output=$(${command.trim()})\necho "= ${mark}$output"`

const COUNT_POSTGRES = (mark: string) => show(mark, 'docker compose exec rollcall-postgres rollcall count')

/** The day. A line of its output begins with `=`. */
const DAY = [
  // The image of Caddy is on a registry, which is not reached here.
  block('env').replace('COMPOSE_PROFILES=caddy\n', ''),
  block('up'),
  WORKS(3000),
  'docker compose logs rollcall',
  subscribe(3000, 'ada@site.io'),
  show('', block('count')),
  block('site'),
  WORKS(3000),
  'grep --quiet "The Gazette" page.html',
  'printf "email\\nbob@site.io\\n" > old-list.csv',
  block('import'),
  block('forget'),
  block('export'),
  show('', 'cut -d, -f1 subscribers.csv | sort | xargs'),
  block('backup'),
  subscribe(3000, 'late@site.io'),
  block('restore'),
  WORKS(3000),
  show('restored: ', block('count')),
  // Another checkout, in a folder of another name.
  'mkdir ../rollcall-1.0.1 && cp -r . ../rollcall-1.0.1 && cd ../rollcall-1.0.1',
  block('upgrade'),
  WORKS(3000),
  'grep --quiet "The Gazette" page.html',
  show('upgraded: ', block('count')),
  block('second').replace(/^docker compose.* count$/m, (count) => show('garden: ', count)),
  WORKS(3001),
  'docker compose --project-name garden --env-file garden.env stop',
  // The first start has a new, empty list; the one of the volume moves there.
  'docker compose stop',
  block('postgres').replace(/^docker compose.* count$/m, (count) => show('postgres: ', count)),
  block('postgres-move'),
  WORKS(3000),
  COUNT_POSTGRES('moved: '),
  block('postgres-backup'),
  subscribe(3000, 'late@site.io'),
  COUNT_POSTGRES('more: '),
  block('postgres-restore'),
  WORKS(3000),
  COUNT_POSTGRES('restored: '),
  'docker compose stop',
  block('run'),
  WORKS(3000),
  subscribe(3000, 'eve@site.io'),
  show('one command: ', 'docker exec rollcall rollcall count'),
  'docker stop --time 15 rollcall && docker rm rollcall && rm -r list',
  block('podman'),
  WORKS(3000),
  subscribe(3000, 'eve@site.io'),
  show('podman: ', 'podman exec rollcall rollcall count'),
  show('owner: ', 'stat --format %u list'),
  'podman stop --time 15 rollcall && podman rm rollcall',
  'echo "= the end"',
]

const ISOLATE = `
umount /sys/fs/cgroup/unified 2> /dev/null || true
mount -t proc proc /proc
ip link set lo up
export DOCKER_HOST=unix://$WALK/podman.sock XDG_RUNTIME_DIR=$WALK/run
podman system service --time 0 unix://$WALK/podman.sock 2> $WALK/podman.log &
for try in $(seq 100); do test -S $WALK/podman.sock && break; sleep 0.1; done
# Compose waits until PostgreSQL is healthy. Podman lets systemd run the checks of health, and there is none.
while sleep 5; do ${PODMAN} healthcheck run ${PROJECT}_postgres_1 > $WALK/health.log 2>&1 || true; done &
cd $WALK/rollcall
exec bash -euo pipefail $WALK/day.sh`

test('a day with the image is as docs/containers.md says', async () => {
  const folder = await createFolder()
  await buildImage(folder)
  buildPostgres(findServer('server', []).bin ?? '')
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'rollcall'))
  for (const name of ['compose.yaml', 'deploy'])
    cpSync(join(ROOT, name), join(folder, 'rollcall', name), { recursive: true })
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nset -eu\n${script}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  writeFileSync(join(folder, 'containers.conf'), CONTAINERS_CONF)
  writeFileSync(join(folder, 'day.sh'), DAY.join('\n'))

  const isolated = ['unshare', '--mount', '--net', '--pid', '--fork', '--kill-child', '--propagation=private']
  const day = Bun.spawn([...isolated, 'bash', '-euc', ISOLATE], {
    env: {
      HOME: folder,
      PATH: `${folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      WALK: folder,
      CONTAINERS_CONF: join(folder, 'containers.conf'),
      CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    },
    stdout: Bun.file(join(folder, 'out.log')),
    stderr: Bun.file(join(folder, 'error.log')),
  })
  const code = await day.exited
  const [out = '', error = ''] = ['out.log', 'error.log'].map((name) => readFileSync(join(folder, name), 'utf8'))
  expect(code, `${out}${error}`).toBe(0)
  // What a good start prints, without what is different each time.
  const { text } = findBlock('docs/containers.md', 'text', 'start')
  for (const [, says = ''] of text.matchAll(/"msg":"([^"…]+)/g)) expect(out).toContain(says)
  expect(out.match(/^= .*/gm)).toEqual([
    '= 1',
    '= ada@site.io bob@site.io email',
    '= restored: 2',
    '= upgraded: 2',
    '= garden: 0',
    '= postgres: 0',
    '= moved: 2',
    '= more: 3',
    '= restored: 2',
    '= one command: 1',
    '= podman: 1',
    '= owner: 65532',
    '= the end',
  ])
}, 600_000)

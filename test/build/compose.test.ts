/** compose.yaml: Rollcall accepts the settings of its services, with those of the image. */

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { HEALTH_DEADLINE_MS, STOP_DEADLINE_MS } from '../../src/limits.ts'
import { readText } from '../support/markdown.ts'
import { createFolder } from '../support/workspace.ts'

const { services } = parse(readText('compose.yaml'), { merge: true })

const CONTAINERFILE = readText('Containerfile')

/** What the Containerfile sets. */
const IMAGE = Object.fromEntries([...CONTAINERFILE.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, ...pair]) => pair))

/** Replaces a variable by its default, as `docker compose` does. */
const toEnvironment = (variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replace(/\$\{\w+:-(.*)\}/, '$1')]))

test('with SQLite, the list is in the volume, and the service can write nowhere else', () => {
  const config = readConfig({ ...IMAGE, ...toEnvironment(services.rollcall.environment), SITE_FILE: '/dev/null' })
  expect(config).toMatchObject({ list: { kind: 'sqlite', file: '/data/rollcall.db' }, port: 3000, ops: { port: 9000 } })
  expect(services.rollcall).toMatchObject({ read_only: true, volumes: ['data:/data'] })
})

test('the profile caddy puts Caddy in front, with the origin of BASE_URL, and waits until the service works', () => {
  const { command, depends_on, ports, profiles } = services.caddy
  expect(command.join(' ')).toMatch(/^caddy reverse-proxy --from \$\{BASE_URL:-\S+\} --to rollcall:3000$/)
  expect(depends_on).toEqual({ rollcall: { condition: 'service_healthy' } })
  expect({ ports, profiles }).toEqual({ ports: ['80:80', '443:443', '443:443/udp'], profiles: ['caddy'] })
})

test('with PostgreSQL, the URL is in a secret, which is not in the repository', async () => {
  const file = join(await createFolder(), 'database_url')
  const url = /postgres:\/\/\S+disable/.exec(readText('docs/containers.md'))?.[0] ?? ''
  writeFileSync(file, url.replace('$password', 'MwB9x_-Q'))
  const environment = toEnvironment(services['rollcall-postgres'].environment)
  expect(environment.DATABASE_URL_FILE).toBe('/run/secrets/database_url')
  const { list } = readConfig({ ...IMAGE, ...environment, DATABASE_URL_FILE: file, SITE_FILE: '/dev/null' })
  expect(list.kind).toBe('postgres')
  expect(readText('.gitignore').split('\n')).toContain('/secrets/')
})

test('nobody reaches the service or the database but through this machine or Caddy, and neither can take more rights', () => {
  for (const name of ['rollcall', 'rollcall-postgres']) {
    const { ports, read_only, cap_drop, security_opt, privileged, user } = services[name]
    expect([name, ports]).toEqual([name, [expect.stringMatching(/^127\.0\.0\.1:\S+:3000$/)]])
    expect([read_only, cap_drop, security_opt]).toEqual([true, ['ALL'], ['no-new-privileges:true']])
    expect([privileged, user]).toEqual([undefined, undefined])
  }
  expect(services.postgres.ports).toBeUndefined()
  const open = Object.entries<{ ports?: readonly string[] }>(services).filter(([, { ports = [] }]) =>
    ports.some((port) => !port.startsWith('127.0.0.1:')),
  )
  expect(open.map(([name]) => name)).toEqual(['caddy'])
})

test('the image runs as a user of its own, whose number is that of the folder of the list', () => {
  const [, last = ''] = readText('Containerfile').split(/^FROM scratch$/m)
  expect([...last.matchAll(/^USER (.+)$/gm)].map(([, user]) => user)).toEqual(['65532:65532'])
  expect(last).toMatch(/^COPY --from=build --chown=65532:65532 \S+\/data\/ \/data\/$/m)
  const image = readText('build/image.ts')
  expect(image).toContain("'etc/passwd': 'rollcall:x:65532:65532::/data:/\\n'")
  expect(image).toContain("'etc/group': 'rollcall:x:65532:\\n'")
  // The advice of an error that a container meets, and of the guide.
  expect(readText('src/failure.ts')).toContain('IMAGE_USER = 65532')
  const users = readText('docs/containers.md').match(/(?<=chown (?:-R )?)\d+/g)
  expect([...new Set(users)]).toEqual(['65532'])
})

test('a container has time to stop and to answer a health check, and starts again by itself', () => {
  const toSeconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])
  for (const name of ['rollcall', 'rollcall-postgres']) {
    const { stop_grace_period: grace, healthcheck, restart } = services[name]
    expect(toSeconds(grace) * 1000).toBeWithin(STOP_DEADLINE_MS + 1_000, 3 * STOP_DEADLINE_MS)
    expect(healthcheck.test).toEqual(['CMD', 'rollcall', 'healthcheck'])
    expect(toSeconds(healthcheck.timeout) * 1000).toBeWithin(HEALTH_DEADLINE_MS + 1_000, 5 * HEALTH_DEADLINE_MS)
    expect([name, restart]).toEqual([name, 'unless-stopped'])
  }
  for (const name of ['caddy', 'postgres']) expect([name, services[name].restart]).toEqual([name, 'unless-stopped'])
  const [, image = ''] = CONTAINERFILE.split(/^FROM scratch$/m)
  const [, timeout = ''] =
    /^HEALTHCHECK --interval=30s --timeout=(\S+) --start-period=10s CMD \["rollcall", "healthcheck"\]$/m.exec(image) ??
    []
  expect(toSeconds(timeout) * 1000).toBeWithin(HEALTH_DEADLINE_MS + 1_000, 5 * HEALTH_DEADLINE_MS)
  // The signal at which the service answers what has begun.
  expect(image).toMatch(/^STOPSIGNAL SIGTERM$/m)
})

test('the list and the database outlive their containers: each is in a volume whose name no folder changes', () => {
  const { name, services: all, volumes } = parse(readText('compose.yaml'), { merge: true })
  expect(name).toBe('rollcall')
  expect(all.rollcall.volumes).toEqual(['data:/data'])
  // Below it, the image of PostgreSQL 18 has its data.
  expect([all.postgres.image, all.postgres.volumes]).toEqual(['postgres:18', ['postgres:/var/lib/postgresql']])
  expect(Object.keys(volumes).sort()).toEqual(['caddy', 'data', 'postgres'])
})

test('no password is in the environment of a container, where every program of it sees it', () => {
  const all = Object.values<{ environment?: Record<string, string> }>(services)
  const names = all.flatMap(({ environment = {} }) => Object.keys(environment))
  expect(names.filter((name) => /PASSWORD/.test(name))).toEqual(['POSTGRES_PASSWORD_FILE'])
  expect(services.postgres.environment.POSTGRES_PASSWORD_FILE).toBe('/run/secrets/postgres_password')
})

test('the image is built from what package-lock.json pins, and says which commit it is', () => {
  const installs = CONTAINERFILE.match(/^RUN npm .*$/gm)
  expect(installs).toEqual(['RUN npm ci --omit=dev'])
  expect(readText('.ci/image')).toContain('--build-arg "REVISION=$(git rev-parse HEAD)"')
})

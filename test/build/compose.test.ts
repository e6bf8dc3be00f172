/** compose.yaml: Rollcall accepts the settings of its services, with those of the image. */

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { readText } from '../support/markdown.ts'
import { createFolder } from '../support/workspace.ts'

const { services } = parse(readText('compose.yaml'), { merge: true })

/** What the Containerfile sets. */
const IMAGE = Object.fromEntries(
  [...readText('Containerfile').matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, ...pair]) => pair),
)

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
})

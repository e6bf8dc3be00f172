/** compose.yaml: Rollcall accepts its settings, and what its services name exists. */

import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { readText } from '../support/markdown.ts'

interface Service {
  readonly environment: Readonly<Record<string, string>>
  readonly healthcheck: { readonly test: readonly string[] }
  readonly read_only?: boolean
  readonly profiles?: readonly string[]
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<'rollcall' | 'rollcall-postgres' | 'postgres', Service>>
  readonly volumes: Readonly<Record<string, null>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const { services, volumes, secrets }: Compose = parse(readText('compose.yaml'), { merge: true })

/** What the Containerfile sets. */
const image = Object.fromEntries(
  [...readText('Containerfile').matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, ...pair]) => pair),
)

/** Replaces a variable by its default, as `docker compose` does. */
const toEnvironment = ({ environment }: Service) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:-(.*)\}/, '$1')]))

test('the service with SQLite keeps its list in the volume, and can write nowhere else', () => {
  const config = readConfig({ ...image, ...toEnvironment(services.rollcall), SITE_FILE: '/dev/null' })
  expect(config).toMatchObject({ list: { kind: 'sqlite', file: '/data/rollcall.db' }, port: 3000, ops: { port: 9000 } })
  expect(services.rollcall).toMatchObject({ read_only: true, volumes: ['data:/data'] })
  expect(services.rollcall.profiles).toBeUndefined()
})

test('the service with PostgreSQL reads its URL from a secret', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'rollcall-test-')), 'database_url')
  const example = /postgres:\/\/\S+disable/.exec(readText('compose.yaml'))?.[0] ?? ''
  writeFileSync(file, `${example}\n`)
  const environment = { ...image, ...toEnvironment(services['rollcall-postgres']), SITE_FILE: '/dev/null' }
  expect(environment.DATABASE_URL_FILE).toBe('/run/secrets/database_url')
  const { list } = readConfig({ ...environment, DATABASE_URL_FILE: file })
  expect(list).toMatchObject({ kind: 'postgres', parameters: { database: 'rollcall' } })
})

test('every volume and secret is declared, and secrets are not in the repository', () => {
  for (const service of Object.values(services)) {
    for (const volume of service.volumes ?? []) expect(Object.keys(volumes)).toContain(volume.split(':')[0]!)
    for (const secret of service.secrets ?? []) expect(secrets[secret]?.file).toBe(`./secrets/${secret}`)
  }
  expect(readText('.gitignore').split('\n')).toContain('/secrets/')
})

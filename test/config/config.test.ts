/** The settings from the environment: defaults, accepted values, and the error for each invalid value. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { type Environment, readEnvironment } from '../../src/config/environment.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { UsageError } from '../../src/failure.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

// The default site file is in the working folder, so the tests change to an empty folder.
const home = process.cwd()
let folder: string
beforeAll(async () => {
  folder = await createFolder()
  process.chdir(folder)
})
afterAll(() => process.chdir(home))

test('a setting that is missing or empty has its default', () => {
  const names = ['PORT', 'HOST', 'BASE_URL', 'DATABASE_URL', 'SITE_FILE', 'CORS_ORIGINS']
  const empty = Object.fromEntries([...names, 'OPS_PORT', 'OPS_HOST', 'LOG_LEVEL'].map((name) => [name, '']))
  for (const environment of [{}, empty]) {
    expect<unknown>(readConfig(environment)).toEqual({
      port: 3000,
      host: '0.0.0.0',
      baseUrl: 'http://localhost:3000',
      list: { kind: 'sqlite', file: 'data/rollcall.db' },
      site: parseSite('', 'site.yaml'),
      siteFile: undefined,
      corsOrigins: [],
      ops: undefined,
      logLevel: 'info',
    })
  }
})

describe('accepted values', () => {
  test.each<[Environment, object]>([
    [{ PORT: '8080' }, { baseUrl: 'http://localhost:8080' }],
    [{ PORT: '80' }, { baseUrl: 'http://localhost' }],
    [{ PORT: '0', BASE_URL: 'http://127.0.0.1:3000' }, { port: 0 }],
    [{ HOST: '::' }, { host: '::' }],
    [{ BASE_URL: 'http://example.org:8443' }, { baseUrl: 'http://example.org:8443' }],
    [{ BASE_URL: 'http://[::1]:3000' }, { baseUrl: 'http://[::1]:3000' }],
    [{ BASE_URL: 'https://xn--bcher-kva.example' }, { baseUrl: 'https://xn--bcher-kva.example' }],
    [
      { CORS_ORIGINS: ' https://a.example , http://b.example:81,,' },
      { corsOrigins: ['https://a.example', 'http://b.example:81'] },
    ],
    [{ CORS_ORIGINS: 'https://a.example,*' }, { corsOrigins: ['https://a.example', '*'] }],
    [{ OPS_PORT: '0' }, { ops: { port: 0, host: '127.0.0.1' } }],
    [{ OPS_PORT: '9000', OPS_HOST: '::1' }, { ops: { port: 9000, host: '::1' } }],
    [{ OPS_HOST: '::1' }, { ops: undefined }],
  ])('%j', (environment, expected) => {
    expect(readConfig(environment)).toMatchObject(expected)
  })
})

describe('an invalid value gives an error with the variable, the value and what to use instead', () => {
  const PORT = 'a port number from 0 to 65535'
  const HOST = 'an IP address such as 127.0.0.1 or ::, or a host name such as localhost'
  const ORIGIN = 'an origin such as https://www.example.org'
  const invalid = [
    ['PORT', PORT, ['65536', '-1', '3000.5', '80a', '0x50', '1e3', ' 80', '١٢']],
    ['OPS_PORT', PORT, ['65536', 'x']],
    ['HOST', HOST, ['1.2.3', '256.0.0.1', '[::1]', ':::', '127.0.0.1:3000', 'http://localhost', '*', ' ']],
    ['HOST', HOST, ['-a.example', 'a..example', 'a.', 'a_b', 'bücher.example', 'a'.repeat(64)]],
    ['OPS_HOST', HOST, ['*', '127.0.0.1:9000']],
    ['BASE_URL', ORIGIN, ['https://example.org?x', 'https://user@example.org', 'ftp://example.org', ' https://a.b']],
    ['BASE_URL', ORIGIN, ['https://', 'https://a"b.example', 'https://*.example', 'example.org/newsletter']],
    ['BASE_URL', 'an origin such as https://example.org', ['example.org', 'https://example.org/', 'Example.org/']],
    ['BASE_URL', 'an origin such as https://example.org', ['https://Example.org', 'https://example.org:443']],
    ['BASE_URL', 'an origin such as https://xn--bcher-kva.example', ['https://bücher.example']],
    ['BASE_URL', 'an origin such as http://localhost:3000', ['localhost:3000', 'http://localhost:3000/']],
  ] as const
  const rows = invalid.flatMap(([name, accepted, values]) => values.map((value) => [name, value, accepted] as const))
  test.each(rows)('%s=%s: use %s', (name, value, accepted) => {
    expect(messageFor({ [name]: value })).toStartWith(`${name} is "${value}": use ${accepted}`)
  })

  test.each(['https://a.example/', 'null', 'https://*.a.example'])('CORS_ORIGINS with %s', (origin) => {
    for (const list of [`https://b.example,${origin}`, `*,${origin}`]) {
      expect(messageFor({ CORS_ORIGINS: list })).toStartWith(
        `CORS_ORIGINS holds "${origin}": use * or a comma-separated list; each part is ${ORIGIN}`,
      )
    }
  })

  test.each(['INFO', 'verbose', '30', ' info'])('LOG_LEVEL=%s', (level) => {
    const choices = 'fatal, error, warn, info, debug, trace, silent'
    expect(messageFor({ LOG_LEVEL: level })).toBe(`LOG_LEVEL is not one of ${choices}`)
  })

  test('PORT=0 without BASE_URL, and an OPS_PORT equal to PORT, which is public', () => {
    expect(messageFor({ PORT: '0' })).toStartWith('BASE_URL is "": use an origin such as')
    expect(messageFor({ OPS_PORT: '3000' })).toStartWith('OPS_PORT is "3000": use a port other than PORT')
    expect(messageFor({ PORT: '81', OPS_PORT: '081' })).toStartWith('OPS_PORT is "81": use a port other than PORT')
  })
})

test('the site file is that of SITE_FILE, or site.yaml in the folder of the env file, or in the working folder', async () => {
  await mkdir('etc')
  await writeFile('etc/env', 'BASE_URL=https://list.example.org\n')
  const read = (own: Environment = {}) => readConfig(readEnvironment({ ENV_FILE: 'etc/env', ...own }))
  expect(read().siteFile).toBeUndefined()
  await writeFile('site.yaml', 'name: Found')
  const digest = '1588c1565e65ce29306a456048a1aa508c68965480b9e6279b7f2dda49e80a95'
  expect(read().siteFile).toEqual({ path: join(folder, 'site.yaml'), digest })
  expect(readConfig({}).site.name).toBe('Found')
  await writeFile('etc/site.yaml', 'name: Beside')
  expect(read()).toMatchObject({ site: { name: 'Beside' }, siteFile: { path: join(folder, 'etc/site.yaml') } })
  expect(readConfig({}).site.name).toBe('Found')
  await writeFile('other.yaml', 'name: Named')
  expect(read({ SITE_FILE: 'other.yaml' }).site.name).toBe('Named')
  await writeFile('site.yaml', 'name: ""')
  expect(messageFor({})).toStartWith('site.yaml:1: name is ""')
  await rm('site.yaml')
  expect(readConfig({}).site.name).toBe('Newsletter')
})

test('a site file that cannot be read is an error', async () => {
  await writeFile('latin1.yaml', Buffer.from('name: Jürgen', 'latin1'))
  for (const [file, reason] of [
    ['nowhere.yaml', 'there is no such file or folder'],
    [folder, 'it is a folder: name a file'],
    ['latin1.yaml', 'it cannot be read'],
  ]) {
    expect(messageFor({ SITE_FILE: file })).toBe(`SITE_FILE is "${file}": ${reason}; use a YAML file in UTF-8`)
  }
})

test('the lines of ENV_FILE are read as those of an .env file, and a variable of the process comes first', async () => {
  const { folder, write } = await createCliFixture()
  await write('env', "# comment\nBASE_URL=https://list.example.org\n\nHOST='127.0.0.1' # local\nPORT=\n")
  const environment = readEnvironment({ ENV_FILE: join(folder, 'env'), LOG_LEVEL: 'warn', HOST: '', PORT: '80' })
  const { BASE_URL, HOST, LOG_LEVEL, PORT } = environment
  expect([BASE_URL, HOST, LOG_LEVEL, PORT]).toEqual(['https://list.example.org', '127.0.0.1', 'warn', '80'])
})

test('commands work with the list and the ports of ENV_FILE, which must exist', async () => {
  const { folder, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await write('env', 'DATABASE_URL=sqlite:list.db\nOPS_PORT=1\n')
  const count = (env: Record<string, string>) => runCommand(['count', '--json'], { folder, env })
  expect((await count({ ENV_FILE: 'env' })).stdout).toContain('"subscribers":1')
  expect((await count({ ENV_FILE: 'env', DATABASE_URL: 'sqlite:none.db' })).code).toBe(1)
  expect((await runCommand(['healthcheck'], { folder, env: { ENV_FILE: 'env' } })).stderr).toContain('127.0.0.1:1')
  const stderr = expect.stringContaining('ENV_FILE is "none": there is no such file or folder; use a file with lines')
  expect(await count({ ENV_FILE: 'none' })).toEqual({ code: 2, stdout: '', stderr })
})

/** Returns the error for an environment. It is one line. */
function messageFor(environment: Environment): string {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    const { message } = error as UsageError
    expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    return message
  }
  throw new Error(`${JSON.stringify(environment)} was accepted`)
}

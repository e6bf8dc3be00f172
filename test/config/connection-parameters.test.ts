/** The parts of a PostgreSQL URL, and the variables of libpq that stand in for them. */

import { describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ConnectionParameters, parseConnectionParameters } from '../../src/config/connection-parameters.ts'
import type { Environment } from '../../src/config/environment.ts'
import { UsageError } from '../../src/failure.ts'
import { toSupportFile } from '../support/paths.ts'
import { createFolder } from '../support/service.ts'

const CERTIFICATE = toSupportFile('certificate/localhost.crt')
const KEY = toSupportFile('certificate/localhost.key')

function parse(url: string, environment: Environment = {}): ConnectionParameters {
  const parameters = parseConnectionParameters('DATABASE_URL', url, environment)
  if (!parameters) throw new Error('not a URL of PostgreSQL')
  return parameters
}

/** What each parameter does: the same for the URL and for the variable. */
const PARTS = [
  ['host', 'PGHOST', 'db.example', { hosts: [{ host: 'db.example', port: 5432, address: undefined }] }],
  ['hostaddr', 'PGHOSTADDR', '10.0.0.9', { hosts: [{ host: '10.0.0.9', port: 5432, address: '10.0.0.9' }] }],
  ['port', 'PGPORT', '6000', { hosts: [{ host: 'localhost', port: 6000, address: undefined }] }],
  ['user', 'PGUSER', 'ann', { user: 'ann', database: 'ann' }],
  ['password', 'PGPASSWORD', 'secret', { password: 'secret' }],
  ['dbname', 'PGDATABASE', 'letters', { database: 'letters' }],
  ['sslmode', 'PGSSLMODE', 'require', { sslMode: 'require' }],
  ['sslrootcert', 'PGSSLROOTCERT', CERTIFICATE, { sslMode: 'verify-full', tls: { ca: expect.any(String) } }],
  ['sslrootcert', 'PGSSLROOTCERT', 'system', { sslMode: 'verify-full', tls: {} }],
  ['channel_binding', 'PGCHANNELBINDING', 'prefer', { channelBinding: 'prefer' }],
  ['application_name', 'PGAPPNAME', 'letters', { applicationName: 'letters' }],
  ['options', 'PGOPTIONS', '-c work_mem=8MB', { options: '-c work_mem=8MB' }],
  ['connect_timeout', 'PGCONNECT_TIMEOUT', '2', { connectTimeout: 2 }],
  ['target_session_attrs', 'PGTARGETSESSIONATTRS', 'read-write', { targetSessionAttrs: 'read-write' }],
] as const

/** Other values. Where they are used, the part of the URL did not win. */
const OTHERS: Environment = {
  PGHOST: 'other',
  PGHOSTADDR: '192.0.2.1',
  PGPORT: '1',
  PGUSER: 'other',
  PGPASSWORD: 'other',
  PGDATABASE: 'other',
  PGSSLMODE: 'allow',
  PGSSLROOTCERT: '/missing',
  PGSSLCERT: '/missing',
  PGSSLKEY: '/missing',
  PGCHANNELBINDING: 'require',
  PGAPPNAME: 'other',
  PGOPTIONS: 'other',
  PGCONNECT_TIMEOUT: '99',
  PGTARGETSESSIONATTRS: 'standby',
}

describe.each(PARTS)('%s', (keyword, variable, value, expected) => {
  const url = `postgres:///?${keyword}=${encodeURIComponent(value)}`
  const without = { USER: 'me' }

  test('is used from the URL', () => expect(parse(url, without)).toMatchObject(expected))

  test(`is used from ${variable} when the URL has none`, () => {
    expect(parse('postgres://', { ...without, [variable]: value })).toMatchObject(expected)
  })

  test(`wins over ${variable}`, () => {
    expect(parse(url, { ...without, [variable]: OTHERS[variable] })).toMatchObject(expected)
  })

  test(`is missing when it is empty, and ${variable} too`, () => {
    expect(parse(`postgres:///?${keyword}=`, { ...without, [variable]: '' })).toEqual(parse('postgres://', without))
  })
})

test('no variable changes a URL that has every part', () => {
  const url =
    'postgres://ann:secret@db.example:6000/letters?sslmode=disable&channel_binding=prefer&application_name=letters&options=-c%20a=b&connect_timeout=2&target_session_attrs=primary'
  expect(parse(url, OTHERS)).toEqual(parse(url))
  expect(parse(url)).toEqual({
    hosts: [{ host: 'db.example', port: 6000, address: undefined }],
    user: 'ann',
    password: 'secret',
    database: 'letters',
    sslMode: 'disable',
    tls: {},
    channelBinding: 'prefer',
    applicationName: 'letters',
    options: '-c a=b',
    connectTimeout: 2,
    targetSessionAttrs: 'primary',
  })
})

test.each([
  [
    'postgres://ann:p%40s%3As@[::1]:6000/l%2Fe',
    { hosts: [{ host: '::1', port: 6000 }], password: 'p@s:s', database: 'l/e' },
  ],
  ['postgres://ann:p:s@s@db/x', { hosts: [{ host: 'db' }], password: 'p:s@s' }],
  [
    'postgres://ann@one:6001,two,[::3]:6003/x?target_session_attrs=read-write',
    {
      hosts: [
        { host: 'one', port: 6001 },
        { host: 'two', port: 5432 },
        { host: '::3', port: 6003 },
      ],
      targetSessionAttrs: 'read-write',
    },
  ],
  [
    'postgres://ann@one,two/x?port=6000&hostaddr=10.0.0.1,10.0.0.2',
    {
      hosts: [
        { host: 'one', port: 6000, address: '10.0.0.1' },
        { host: 'two', port: 6000, address: '10.0.0.2' },
      ],
    },
  ],
  ['postgres://ann@%2Fvar%2Frun/x', { hosts: [{ host: '/var/run', port: 5432 }] }],
  ['postgres://ann@db/', { database: 'ann' }],
  ['postgres://ann@db?ssl=true', { sslMode: 'require' }],
  ['postgres://ann@db?password=a=b', { password: 'a=b' }],
  ['postgres://ann@db?connect_timeout=0', { connectTimeout: undefined }],
  [`postgres://ann@db?sslmode=require&sslrootcert=${CERTIFICATE}`, { sslMode: 'verify-full' }],
  [`postgres://ann@db?sslmode=verify-ca&sslrootcert=${CERTIFICATE}`, { sslMode: 'verify-ca' }],
  [
    `postgres://ann@db?sslmode=require&sslcert=${CERTIFICATE}&sslkey=${KEY}`,
    { tls: { cert: expect.stringContaining('BEGIN CERTIFICATE'), key: expect.stringContaining('PRIVATE KEY') } },
  ],
])('%s', (url, expected) => expect(parse(url)).toMatchObject(expected))

test('every part that is wrong has a message of its own, without the value of a part that may be a password', async () => {
  const folder = await createFolder()
  const text = join(folder, 'text.pem')
  await writeFile(text, 'not a certificate')
  const cases: readonly (readonly [string, string, Environment?])[] = [
    ['postgres://db/x', 'DATABASE_URL has no user: use postgres://USER:PASSWORD@HOST/DATABASE'],
    ['postgres://ann@db:99999/x', 'port in DATABASE_URL is not a port number from 1 to 65535'],
    ['postgres://ann@db/x', 'PGPORT is not a port number from 1 to 65535', { PGPORT: 'hunter2' }],
    ['postgres://ann:hunter2%zz@db/x', 'password in DATABASE_URL has a % that does not begin an escape such as %40'],
    ['postgres://ann:hunter2%00@db/x', 'password in DATABASE_URL has a % that does not begin'],
    ['postgres://ann@db/x?sslmode=hunter2', 'sslmode in DATABASE_URL is not one of disable, allow, prefer, require'],
    ['postgres://ann@db/x', 'PGSSLMODE is not one of disable', { PGSSLMODE: 'hunter2' }],
    ['postgres://ann@db/x?channel_binding=on', 'channel_binding in DATABASE_URL is not one of disable, prefer'],
    [
      'postgres://ann@db/x?target_session_attrs=on',
      'target_session_attrs in DATABASE_URL is not one of any, read-write',
    ],
    ['postgres://ann@a,b,c/x?port=1,2', 'DATABASE_URL has 3 hosts, but not as many addresses or ports'],
    ['postgres://ann@db/x?connect_timeout=5s', 'connect_timeout in DATABASE_URL is not a number of seconds'],
    [
      'postgres://ann@db/x?sslmod=require',
      'has the parameter "sslmod" that Rollcall does not know: use host, hostaddr',
    ],
    ['postgres://ann@db/x?password=a&hunter2', 'has a parameter that Rollcall does not know: use host, hostaddr'],
    ['postgres://ann@db/x?sslmode', 'has the parameter "sslmode" that Rollcall does not know'],
    [
      'postgres://ann@db/x?sslrootcert=/missing/ca.pem',
      'sslrootcert in DATABASE_URL is "/missing/ca.pem": there is no such file or folder',
    ],
    ['postgres://ann@db/x', `PGSSLROOTCERT is "${folder}": it is a folder`, { PGSSLROOTCERT: folder }],
    [`postgres://ann@db/x?sslrootcert=${text}`, `is "${text}": the file has no certificate in PEM format`],
    ['postgres://ann@db/x?sslmode=require&sslkey=/missing', 'sslkey in DATABASE_URL is "/missing": there is no'],
  ]
  for (const [url, message, environment] of cases) {
    const parsing = () => parse(url, environment)
    expect(parsing).toThrow(UsageError)
    expect(parsing).toThrow(message)
    expect(parsing).not.toThrow('hunter2')
  }
})

/** The parts of a PostgreSQL URL, and errors that never show a password. */

import { expect, test } from 'bun:test'
import { toListName } from '../../src/config/list-url.ts'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { UsageError } from '../../src/failure.ts'
import { toSupportFile } from '../support/paths.ts'

const CERTIFICATE = toSupportFile('certificate/localhost.crt')

const parse = (url: string) => parsePostgresUrl('DATABASE_URL', url)

test('the URL has every part', () => {
  const server = {
    host: 'db.example',
    port: 6000,
    user: 'ann',
    password: 'secret',
    database: 'letters',
    sslMode: 'require',
    ca: undefined,
    channelBinding: 'prefer',
  } as const
  const url = 'postgres://ann:secret@db.example:6000/letters?sslmode=require&channel_binding=prefer'
  expect(parse(url)).toEqual(server)
  expect(toListName({ kind: 'postgres', server })).toBe('postgres://db.example:6000/letters')
})

test.each([
  ['postgresql://ann@db/x', { host: 'db', port: 5432, password: '', sslMode: 'disable', channelBinding: 'disable' }],
  ['postgres://ann:p%40s%3As@[::1]:6000/l%2Fe', { host: '::1', port: 6000, password: 'p@s:s', database: 'l/e' }],
  ['postgres://ann:p:s@s@db/x', { host: 'db', password: 'p:s@s' }],
  ['postgres://ann@%2Fvar%2Frun/x', { host: '/var/run', port: 5432 }],
  [`postgres://ann@db/x?sslrootcert=${CERTIFICATE}`, { sslMode: 'verify-full', ca: expect.stringContaining('BEGIN') }],
  ['postgres://ann@db/x?sslrootcert=system', { sslMode: 'verify-full', ca: undefined }],
  [`postgres://ann@db/x?sslmode=require&sslrootcert=${CERTIFICATE}`, { sslMode: 'verify-full' }],
  [`postgres://ann@db/x?sslmode=verify-ca&sslrootcert=${CERTIFICATE}`, { sslMode: 'verify-ca' }],
  ['postgres://ann@db/x?sslmode=&channel_binding=', { sslMode: 'disable', channelBinding: 'disable' }],
])('%s', (url, expected) => expect(parse(url)).toMatchObject(expected))

test.each([
  ...['postgres://', 'postgres:///x', 'postgres://db/x', 'postgres://ann@db', 'postgres://ann@db/', 'postgres://@db/x'],
  ...['postgres://ann@one,two/x', 'postgres://ann@one:1,two:2/x', 'postgres://ann@/x?host=db', 'mysql://ann@db/x'],
])('%s does not name a user, one host and a database', (url) => expect(parse(url)).toBeUndefined())

const ESCAPE = 'password in DATABASE_URL has a % that does not begin an escape such as %40'
const PARAMETERS = ['options', 'hostaddr', 'target_session_attrs', 'sslcert', 'connect_timeout', 'sslmod', 'password']

test.each([
  ['ann@db:99999/x', 'port in DATABASE_URL is "99999": use a port number'],
  ['ann@db/x?sslmode=hunter2', 'sslmode in DATABASE_URL is not one of disable, allow, prefer, require'],
  ['ann@db/x?channel_binding=on', 'channel_binding in DATABASE_URL is not one of disable, prefer'],
  ...PARAMETERS.map((name) => [`ann@db/x?${name}=hunter2`, `DATABASE_URL has the parameter "${name}", which`] as const),
  ['ann@db/x?sslrootcert=/missing/ca.pem', 'sslrootcert in DATABASE_URL is "/missing/ca.pem": there is no such file'],
  ['ann@db/x?sslrootcert=/proc', 'is "/proc": it is a folder'],
  [
    'ann@db/x?sslrootcert=/proc/version',
    'is "/proc/version": it cannot be read; use a file with a certificate in PEM format',
  ],
  ['ann:hunter2%zz@db/x', ESCAPE],
  ['ann:hunter2%00@db/x', 'password in DATABASE_URL has %00, a zero byte, which PostgreSQL cannot have: remove it'],
] as const)('%s is a usage error that does not show what may be a password: %s', (rest, message) => {
  const parsing = () => parse(`postgres://${rest}`)
  expect(parsing).toThrow(UsageError)
  expect(parsing).toThrow(message)
  expect(parsing).not.toThrow('hunter2')
})

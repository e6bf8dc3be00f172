/** The URL of a list: the accepted forms, and errors that never show a password. */

import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseListUrl, readListUrl } from '../../src/config/list-url.ts'
import { UsageError } from '../../src/failure.ts'
import { createFolder } from '../support/workspace.ts'

const parse = (url: string) => parseListUrl('DATABASE_URL', url)

test.each([
  ['sqlite:list.db', 'list.db'],
  ['sqlite:./data/list.db', './data/list.db'],
  ['sqlite://data/list.db', 'data/list.db'],
  ['sqlite:///var/lib/list.db', '/var/lib/list.db'],
  ['file:///var/lib/list.db', '/var/lib/list.db'],
  ['sqlite:my list.db', 'my list.db'],
])('%s is the file %s', (url, file) => expect(parse(url)).toEqual({ kind: 'sqlite', file }))

test.each([
  ...['data/rollcall.db', 'sqlite', 'sqlite:', 'sqlite://', 'file:', 'sqlite:data/', 'file:///', 'file: list.db'],
  ...['sqlite::memory:', 'sqlite:file:list.db', 'sqlite:list.db?mode=memory', 'sqlite:list.db#x'],
  ...['postgres:/rollcall', 'mysql://localhost/rollcall'],
])('%s is refused with the accepted forms', (url) => {
  expect(() => parse(url)).toThrow(UsageError)
  expect(() => parse(url)).toThrow(
    'DATABASE_URL is wrong (not shown: it may contain a password): use sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  )
})

test.each([
  'sqlite:postgres://rollcall:hunter2@db.example/rollcall',
  'sqlite:postgres%3A%2F%2Frollcall:hunter2@db.example/rollcall',
  'postgres%3A%2F%2Frollcall%3Ahunter2%40db.example%2Frollcall',
  'sqlite:my%20list.db',
  'sqlite:x\ufffd.db',
])('%s is no list, and no part of it is', (url) => {
  expect(() => parse(url)).toThrow(UsageError)
  expect(() => parse(url)).toThrow(/^DATABASE_URL is (?!.*hunter2).* use sqlite:PATH/)
})

describe('never shows what may be a password', () => {
  const urls = [
    'postgres://rollcall:hunter2@db.example:notaport/rollcall',
    'postgres://rollcall:hunter/2@db.example/rollcall',
    'postgres://rollcall:hunter#2@db.example/rollcall',
    'postgres:/rollcall:hunter2@db.example/rollcall',
    'postgres://?user=rollcall&password=hunter2@x',
    'postgres:rollcall:hunter2',
    'postgres//rollcall:hunter2@db.example/rollcall',
    'postgre://rollcall:hunter2@db.example/rollcall',
    ' postgres://rollcall:hunter2@db.example/rollcall',
    'mysql://rollcall:hunter2@db.example/rollcall',
    'rollcall:hunter2@db.example/rollcall',
    'rollcall:hunter2',
    'host=db.example user=rollcall password=hunter2',
    'postgres://rollcall:hunter2@db .example/rollcall',
    'postgres://rollcall:hun\nter2@:/rollcall',
  ]
  test.each(urls)('in %j', (url) => {
    expect(() => parse(url)).toThrow(
      /^DATABASE_URL is (?!.*(?:hun|ter2)).*not shown: it may contain a password.* use sqlite:PATH, file:PATH or postgres:/,
    )
  })
})

const folder = await createFolder()

describe('DATABASE_URL_FILE', () => {
  const read = (content: string, environment: Record<string, string> = {}) => {
    const file = join(folder, 'url')
    writeFileSync(file, content)
    return readListUrl({ DATABASE_URL_FILE: file, ...environment })
  }

  test('names a file that has the URL', () => {
    expect(read('sqlite:list.db\n')).toEqual({ kind: 'sqlite', file: 'list.db' })
    const server = expect.objectContaining({ password: 'secret', database: 'rollcall' })
    expect(read('postgres://ann:secret@db.example/rollcall\n')).toEqual({ kind: 'postgres', server })
  })

  test('must exist, and excludes DATABASE_URL', () => {
    expect(() => readListUrl({ DATABASE_URL_FILE: 'none' })).toThrow(
      'DATABASE_URL_FILE is "none": there is no such file',
    )
    expect(() => read('sqlite:a.db', { DATABASE_URL: 'sqlite:b.db' })).toThrow('are both set')
  })

  test('an error shows no password', () => {
    expect(() => read('mysql://ann:secret@db.example/x')).toThrow(/^the URL in DATABASE_URL_FILE is (?!.*secret)/)
  })
})

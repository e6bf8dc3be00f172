import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../../src/routes.ts'
import { readList } from '../support/list-file.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.list.example'
const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const LISTED = ['https://page.example', 'http://localhost:5173']
const UNLISTED = [
  'https://evil.example',
  'http://page.example',
  'https://page.example:8443',
  'https://page.example.evil.example',
  'https://sub.page.example',
  'https://PAGE.example',
  'https://page.example/',
  `${LISTED}`,
  'null',
  '*',
  '',
]

/** Requests that lead to every kind of answer of the endpoint. */
const REQUESTS = [
  ['accepted', 200, 'POST', [JSON_FIELD], '{"email":"page@example.org"}'],
  ['a wrong address', 400, 'POST', [JSON_FIELD], '{"email":"page"}'],
  ['a wrong body', 400, 'POST', [JSON_FIELD], 'x'],
  ['a wrong method', 405, 'GET', [], undefined],
  ['OPTIONS without a preflight', 405, 'OPTIONS', [], undefined],
  ['a large body', 413, 'POST', [JSON_FIELD, 'Content-Length: 20000'], undefined],
  ['a wrong media type', 415, 'POST', ['Content-Type: text/plain'], '{"email":"page@example.org"}'],
  ['the other host', 308, 'POST', [JSON_FIELD, 'Host: list.example'], '{"email":"page@example.org"}'],
] as const

let service: RunningService

/** Sends a request of the table, or a preflight, from a page. */
async function send(method: string, fields: readonly string[], body?: string): Promise<RawReply> {
  const host = fields.some((field) => field.startsWith('Host:')) ? [] : ['Host: www.list.example']
  const request = toRequest(`${method} ${ENDPOINT.path}`, [...host, ...fields], body)
  const reply = await exchange(service.port, request)
  if (!reply) throw new Error('there was no answer')
  service.check({ ...reply, method, path: ENDPOINT.path })
  return reply
}

const preflight = (origin: string, ...fields: string[]) =>
  send('OPTIONS', [`Origin: ${origin}`, 'Access-Control-Request-Method: POST', ...fields])

/** The fields that CORS has a say in. */
const toCors = ({ headers }: RawReply) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

const GRANTED = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'Content-Type',
  'access-control-max-age': '7200',
}

describe('with no CORS_ORIGINS', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL } })
  })
  afterAll(() => service.stop())

  test('a preflight is refused, and no answer says anything to pages', async () => {
    const refused = await preflight(LISTED[0]!)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    for (const [name, status, method, fields, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${LISTED[0]}`, ...fields], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, {}])
    }
  })

  test('documents are read from anywhere, by way of the other host, too', async () => {
    for (const host of ['www.list.example', 'list.example']) {
      const fields = [`Host: ${host}`, 'Origin: https://evil.example']
      const reply = await exchange(service.port, toRequest(`GET ${DOCUMENTS.openApiJson.path}`, fields))
      expect(reply?.headers.get('access-control-allow-origin')).toBe('*')
    }
  })
})

describe('with a list of origins', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL, CORS_ORIGINS: LISTED.join(', ') } })
  })
  afterAll(() => service.stop())

  test.each(LISTED)('%s is let in, by every answer', async (origin) => {
    const own = { 'access-control-allow-origin': origin, vary: 'Origin' }
    const granted = await preflight(origin, 'Access-Control-Request-Headers: content-type')
    expect([granted.status, toCors(granted)]).toEqual([204, { ...own, ...GRANTED }])
    expect(granted.body).toHaveLength(0)
    for (const [name, status, method, fields, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...fields], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, own])
    }
  })

  test.each(UNLISTED)('"%s" is not, and a cache is told that another might be', async (origin) => {
    const refused = await preflight(origin)
    expect([refused.status, refused.headers.get('allow'), toCors(refused)]).toEqual([
      405,
      'POST',
      { vary: 'Origin' },
    ])
    for (const [name, status, method, fields, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...fields], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, { vary: 'Origin' }])
    }
  })

  test('who names no origin is answered as ever, and a cache is told', async () => {
    for (const [name, status, method, fields, body] of REQUESTS) {
      const reply = await send(method, fields, body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, { vary: 'Origin' }])
    }
  })

  test('two origins are none', async () => {
    const reply = await preflight(LISTED[0]!, `Origin: ${LISTED[1]}`)
    expect([reply.status, toCors(reply)]).toEqual([405, { vary: 'Origin' }])
  })

  test('a preflight writes nothing', async () => {
    expect(await readList(service.folder)).toEqual(['page@example.org'])
  })
})

describe('with *', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL, CORS_ORIGINS: '*' } })
  })
  afterAll(() => service.stop())

  test.each([...LISTED, 'https://evil.example', 'null', '*'])(
    '%s is let in, by every answer',
    async (origin) => {
      const own = { 'access-control-allow-origin': '*' }
      const granted = await preflight(origin)
      expect([granted.status, toCors(granted)]).toEqual([204, { ...own, ...GRANTED }])
      for (const [name, status, method, fields, body] of REQUESTS) {
        const reply = await send(method, [`Origin: ${origin}`, ...fields], body)
        expect([name, reply.status, toCors(reply)]).toEqual([name, status, own])
      }
    },
  )
})

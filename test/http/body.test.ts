/** Bodies and media types: which the endpoint accepts, and which reason refuses the others. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { MAX_BODY_BYTES } from '../support/contract.ts'
import { expectOutcome, type Outcome, POST_HEADERS, post } from '../support/endpoint.ts'
import { readList } from '../support/list-file.ts'
import { type RunningService, startService } from '../support/service.ts'

const [HOST] = POST_HEADERS

let service: RunningService

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

/** The addresses that got a 200. */
const accepted: string[] = []

/** Posts a body, and compares the response with the expected outcome. */
async function expectPost(body: string | Uint8Array, outcome: Outcome, headers?: readonly string[]): Promise<void> {
  expectOutcome(await post(service, body, headers), outcome)
  if (typeof outcome !== 'string') accepted.push(outcome.email)
}

describe('a body', () => {
  const JSON_OK = (email: string) => JSON.stringify({ email })
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')

  const CASES: readonly (readonly [string, string | Uint8Array, Outcome])[] = [
    ['nothing', '', 'no_body'],
    ['white space', ' \t\r\n', 'no_body'],
    ['only a byte order mark', '\uFEFF', 'no_body'],
    ['a byte order mark before the JSON', `\uFEFF${JSON_OK('bom@example.org')}`, { email: 'bom@example.org' }],
    ['UTF-16 with a byte order mark', utf16(`\uFEFF${JSON_OK('utf16@example.org')}`), 'malformed_json'],
    ['malformed UTF-8 in the address', Buffer.from('{"email":"\xff@example.org"}', 'latin1'), 'non_ascii'],
    ['malformed UTF-8 outside strings', Buffer.from('{\xff"email":"a@b.example"}', 'latin1'), 'malformed_json'],
    ['a surrogate half as UTF-8', Buffer.from('{"email":"\xed\xa0\x80@b.example"}', 'latin1'), 'non_ascii'],
    ['a surrogate half as an escape', '{"email":"\\ud800@example.org"}', 'non_ascii'],
    ['a NUL in the address', '{"email":"nul\\u0000@example.org"}', 'non_ascii'],
    ['an incomplete object', '{"email":"cut@example.org"', 'malformed_json'],
    ['two objects', '{"email":"a@example.org"}{}', 'malformed_json'],
    ['a form', 'email=a@example.org', 'malformed_json'],
    ['gzip', gzipSync(JSON_OK('gzip@example.org')), 'malformed_json'],
    ['null', 'null', 'not_an_object'],
    ['a number', '1e9999', 'not_an_object'],
    ['a string', '"a@example.org"', 'not_an_object'],
    ['an array', '[{"email":"a@example.org"}]', 'not_an_object'],
    ['nested arrays without end', '['.repeat(MAX_BODY_BYTES), 'malformed_json'],
    ['an empty object', '{}', 'missing'],
    ['a member name in another case', '{"Email":"a@example.org"}', 'missing'],
    ['an address of null', '{"email":null}', 'not_a_string'],
    ['an address in an array', '{"email":["a@example.org"]}', 'not_a_string'],
    ['an address in __proto__', '{"__proto__":{"email":"a@example.org"}}', 'missing'],
    ['white space around the object', ` \r\n\t${JSON_OK('blank@example.org')}\n `, { email: 'blank@example.org' }],
    ['escaped characters', '{"\\u0065mail":"esc\\u0061pe@example.org"}', { email: 'escape@example.org' }],
    [
      'white space around the address',
      JSON_OK(' \\ttrim@example.org\u00A0'.replace('\\t', '\t')),
      { email: 'trim@example.org' },
    ],
    [
      'two email members, of which the last is used',
      '{"email":1,"email":"last@example.org"}',
      { email: 'last@example.org' },
    ],
    ['two email members, of which the last is invalid', '{"email":"first@example.org","email":1}', 'not_a_string'],
    [
      'other members',
      '{"ok":false,"email":"other@example.org","to":"x@example.org","":[{}]}',
      { email: 'other@example.org' },
    ],
    [
      'a nested member',
      `{"email":"deep@example.org","deep":${'['.repeat(8000)}${']'.repeat(8000)}}`,
      { email: 'deep@example.org' },
    ],
    [
      'malformed UTF-8 in another member',
      Buffer.from('{"email":"member@example.org","name":"\xff"}', 'latin1'),
      { email: 'member@example.org' },
    ],
  ]

  test.each(CASES)('of %s', async (_, body, outcome) => {
    await expectPost(body, outcome)
  })
})

describe('media types', () => {
  const ACCEPTED = [
    'application/json',
    'Application/Json',
    'application/json;charset=utf-8',
    'application/json ; charset="utf-8"',
    'application/json\t;charset=utf-8',
    'application/json; charset=utf-16',
    'application/json; profile="a;b"; x=y',
    ' application/json ',
  ]
  test.each(ACCEPTED)('"%s" is accepted', async (type) => {
    const email = `type${ACCEPTED.indexOf(type)}@example.org`
    await expectPost(JSON.stringify({ email }), { email }, [HOST, `Content-Type:${type}`])
  })

  const REFUSED = [
    '',
    'text/plain',
    'text/plain;application/json',
    'application/jsonx',
    'application/ json',
    'application/json x',
    'application/json, application/json',
    'application/problem+json',
    'application/x-www-form-urlencoded',
  ]
  test.each(REFUSED)('"%s" is refused', async (type) => {
    await expectPost('{"email":"refused@example.org"}', 'media_type', [HOST, `Content-Type: ${type}`])
  })

  test('no media type and two media types are refused with any body', async () => {
    const twice = [...POST_HEADERS, 'Content-Type: application/json']
    for (const headers of [[HOST], twice]) {
      for (const body of ['{"email":"refused@example.org"}', '', ' '.repeat(MAX_BODY_BYTES)]) {
        await expectPost(body, 'media_type', headers)
      }
    }
  })
})

// The service decodes no content coding: it parses the bytes as JSON.
describe('content codings', () => {
  const body = JSON.stringify({ email: 'more@example.org' })

  test.each(['gzip', 'br', 'identity', 'nonsense'])('Content-Encoding: %s is ignored', async (coding) => {
    const headers = [...POST_HEADERS, `Content-Encoding: ${coding}`]
    await expectPost(body, { email: 'more@example.org' }, headers)
    await expectPost(gzipSync(body), 'malformed_json', headers)
  })
})

test('the list has the addresses that got a 200, and no others', async () => {
  expect([...(await readList(service.folder))].sort()).toEqual([...new Set(accepted)].sort())
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { expectOutcome, type Outcome, POST_HEADERS, post } from '../support/endpoint.ts'
import { readList } from '../support/list-file.ts'
import { type RunningService, startService } from '../support/service.ts'

const HOST = POST_HEADERS[0]

let service: RunningService

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

/** Every address that was answered 200. */
const accepted: string[] = []

/** Posts a body, and holds the answer against what is to come of it. */
async function expectPost(
  body: string | Uint8Array,
  outcome: Outcome,
  fields?: readonly string[],
): Promise<void> {
  expectOutcome(await post(service, body, fields), outcome)
  if (typeof outcome !== 'string') accepted.push(outcome.email)
}

describe('what a body may be', () => {
  const JSON_OK = (email: string) => JSON.stringify({ email })
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')

  const CASES: readonly (readonly [string, string | Uint8Array, Outcome])[] = [
    ['nothing', '', 'no_body'],
    ['white space', ' \t\r\n', 'no_body'],
    ['a byte order mark alone', '\uFEFF', 'no_body'],
    ['a byte order mark in front', `\uFEFF${JSON_OK('bom@example.org')}`, { email: 'bom@example.org' }],
    ['two byte order marks', `\uFEFF\uFEFF${JSON_OK('boms@example.org')}`, 'malformed_json'],
    ['UTF-16', utf16(JSON_OK('utf16@example.org')), 'malformed_json'],
    ['UTF-16 with its mark', utf16(`\uFEFF${JSON_OK('utf16@example.org')}`), 'malformed_json'],
    ['malformed UTF-8 in the address', Buffer.from('{"email":"\xff@example.org"}', 'latin1'), 'non_ascii'],
    [
      'malformed UTF-8 outside strings',
      Buffer.from('{\xff"email":"a@b.example"}', 'latin1'),
      'malformed_json',
    ],
    ['a surrogate half as UTF-8', Buffer.from('{"email":"\xed\xa0\x80@b.example"}', 'latin1'), 'non_ascii'],
    ['a surrogate half as an escape', '{"email":"\\ud800@example.org"}', 'non_ascii'],
    ['a NUL in front', `\0${JSON_OK('nul@example.org')}`, 'malformed_json'],
    ['a NUL in the address', '{"email":"nul\\u0000@example.org"}', 'non_ascii'],
    ['cut short', '{"email":"cut@example.org"', 'malformed_json'],
    ['two objects', '{"email":"a@example.org"}{}', 'malformed_json'],
    ['a trailing comma', '{"email":"a@example.org",}', 'malformed_json'],
    ['a comment', '{"email":"a@example.org"/**/}', 'malformed_json'],
    ['single quotes', "{'email':'a@example.org'}", 'malformed_json'],
    ['a form', 'email=a@example.org', 'malformed_json'],
    ['gzip', gzipSync(JSON_OK('gzip@example.org')), 'malformed_json'],
    ['null', 'null', 'not_an_object'],
    ['a number', '1e9999', 'not_an_object'],
    ['a string', '"a@example.org"', 'not_an_object'],
    ['a list', '[{"email":"a@example.org"}]', 'not_an_object'],
    ['deep lists', `${'['.repeat(8000)}${']'.repeat(8000)}`, 'not_an_object'],
    ['deep lists without end', '['.repeat(MAX_BODY_BYTES), 'malformed_json'],
    ['an empty object', '{}', 'missing'],
    ['another case of the name', '{"Email":"a@example.org"}', 'missing'],
    ['an address of null', '{"email":null}', 'not_a_string'],
    ['an address that is a number', '{"email":1}', 'not_a_string'],
    ['an address in a list', '{"email":["a@example.org"]}', 'not_a_string'],
    ['an address in an object', '{"email":{"email":"a@example.org"}}', 'not_a_string'],
    ['an address in __proto__', '{"__proto__":{"email":"a@example.org"}}', 'missing'],
    ['an address in constructor', '{"constructor":{"prototype":{"email":"a@example.org"}}}', 'missing'],
    ['white space around', ` \r\n\t${JSON_OK('blank@example.org')}\n `, { email: 'blank@example.org' }],
    ['escapes', '{"\\u0065mail":"esc\\u0061pe@example.org"}', { email: 'escape@example.org' }],
    [
      'blanks around the address',
      JSON_OK(' \\ttrim@example.org\u00A0'.replace('\\t', '\t')),
      { email: 'trim@example.org' },
    ],
    [
      'the name twice: the last counts',
      '{"email":1,"email":"last@example.org"}',
      { email: 'last@example.org' },
    ],
    ['the name twice, the last wrong', '{"email":"first@example.org","email":1}', 'not_a_string'],
    [
      'other members',
      '{"ok":false,"email":"other@example.org","to":"x@example.org","":[{}]}',
      { email: 'other@example.org' },
    ],
    [
      'members named like those of every object',
      '{"__proto__":{"toString":1},"hasOwnProperty":0,"toJSON":2,"email":"proto@example.org"}',
      { email: 'proto@example.org' },
    ],
    [
      'a deep member',
      `{"email":"deep@example.org","deep":${'['.repeat(8000)}${']'.repeat(8000)}}`,
      { email: 'deep@example.org' },
    ],
    [
      'malformed UTF-8 in another member',
      Buffer.from('{"email":"member@example.org","name":"\xff"}', 'latin1'),
      { email: 'member@example.org' },
    ],
  ]

  test.each(CASES.map((row) => [...row] as const))('%s', async (_, body, outcome) => {
    await expectPost(body, outcome)
  })
})

describe('media types', () => {
  const TAKEN = [
    'application/json',
    'APPLICATION/JSON',
    'Application/Json',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json\t;charset=utf-8',
    'application/json;',
    'application/json; charset=utf-16',
    'application/json; profile="a;b"; x=y',
    ' application/json ',
  ]
  test.each(TAKEN)('"%s" is taken', async (type) => {
    const email = `type${TAKEN.indexOf(type)}@example.org`
    await expectPost(JSON.stringify({ email }), { email }, [HOST, `Content-Type:${type}`])
  })

  const REFUSED = [
    '',
    'application',
    'application/',
    'json',
    'text/json',
    'text/plain',
    'text/plain;application/json',
    'application/jsonx',
    'application/json5',
    'application/json/x',
    'application/ json',
    'application/json x',
    'application/json, application/json',
    'application/problem+json',
    'application/ld+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '"application/json"',
    '*/*',
  ]
  test.each(REFUSED)('"%s" is refused', async (type) => {
    await expectPost('{"email":"refused@example.org"}', 'media_type', [HOST, `Content-Type: ${type}`])
  })

  test('none, or two, are refused, whatever the body', async () => {
    const twice = [...POST_HEADERS, 'Content-Type: application/json']
    for (const fields of [[HOST], twice]) {
      for (const body of ['{"email":"refused@example.org"}', '', ' '.repeat(MAX_BODY_BYTES)]) {
        await expectPost(body, 'media_type', fields)
      }
    }
  })
})

// No coding is decoded: what is sent is taken for JSON as it is.
describe('content codings', () => {
  const body = JSON.stringify({ email: 'more@example.org' })

  test.each(['gzip', 'br', 'identity', 'nonsense'])(
    'Content-Encoding: %s is not looked at',
    async (coding) => {
      const fields = [...POST_HEADERS, `Content-Encoding: ${coding}`]
      await expectPost(body, { email: 'more@example.org' }, fields)
      await expectPost(gzipSync(body), 'malformed_json', fields)
    },
  )
})

test('what was answered 200 is on the list, and nothing else', async () => {
  expect([...(await readList(service.folder))].sort()).toEqual([...new Set(accepted)].sort())
})

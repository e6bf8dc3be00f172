/** A line break in a cell without quotes splits a row in two. */

import { describe, expect, test } from 'bun:test'
import { type Options, read } from '../read.ts'

/** Who is added or leaves, the lines of rejected rows, and the doubts. */
function summarize(text: string, options?: Options) {
  const { subscribers, optOuts, rejected, doubts } = read(text, options)
  return {
    people: [...subscribers, ...optOuts].map(({ email }) => email).join(', '),
    rejected: rejected.map(({ line }) => line).join(', '),
    doubts: doubts.filter((doubt) => !doubt.startsWith('rejected are')),
  }
}

const toDoubt = (first: number, second: number) =>
  `lines ${first} and ${second} may be one row with a line break that is not in quotes. Correct the file if they are: --accept lines leaves them out`

test.each<readonly [what: string, text: string]>([
  ['an address whose end is one too', 'email,status\nbo.\n1@site.io,active\nz@site.io,active\n'],
  ['an address whose start is one too', 'name,email\nBo,bo@site.co\nm.example\nZ,z@site.io\n'],
  ['one of somebody who left', 'email,status\nbo.\n1@site.io,unsubscribed\nz@site.io,active\n'],
  ['a status whose end is one too', 'status,email\nun\nsubscribed,bo@site.io\nsubscribed,z@site.io\n'],
  ['a date whose start is one too', 'name,email,created\nB,bo@site.io,2024-01-1\n2\nZ,z@site.io,2024-01-02\n'],
  ['a cell before the address', 'id,name,email\n1,B\no,bo@site.io\n2,Z,z@site.io\n'],
  ['rows without their empty end', 'email,status,name,city\nbo.\n1@site.io,active\nz@site.io,active\n'],
])('%s: neither part adds or removes anybody, and the doubt has an answer', (_, text) => {
  const seen = { people: 'z@site.io', rejected: '2, 3' }
  expect(summarize(text)).toEqual({ ...seen, doubts: [toDoubt(2, 3)] })
  expect(summarize(text, { accept: ['lines'] })).toEqual({ ...seen, doubts: [] })
})

test('also with a blank line between them', () => {
  const text = 'email,status\nbo.\n\n1@site.io,active\nz@site.io,active\n'
  expect(summarize(text)).toEqual({ people: 'z@site.io', rejected: '2, 4', doubts: [toDoubt(2, 4)] })
})

describe('a short row is ordinary', () => {
  test.each<readonly [what: string, text: string, rejected: string]>([
    ['without its empty end', 'email,status,name\na@site.io,active\nz@site.io,active,Z\n', ''],
    ['beside another one', 'email,name,city\na@site.io,A\nz@site.io,Z\n', ''],
    ['as the end of a note', 'email,name,notes\na@site.io,A,likes\nold poetry\nz@site.io,Z,\n', '3'],
    ['as the start of a name', 'name,email\nA\nda,a@site.io\nZ,z@site.io\n', '2'],
    ['as a total', 'email,status\na@site.io,active\nz@site.io,active\nTotal: 2\n', '4'],
    ['as a count of a database', 'name,email\nA,a@site.io\nZ,z@site.io\n(2 rows affected)\n', '4'],
  ])('%s', (_, text, rejected) => {
    const people = 'a@site.io, z@site.io'
    expect(summarize(text, { accept: ['silence'] })).toEqual({ people, rejected, doubts: [] })
  })
})

/** Content negotiation and conditional requests: how header values are read. */

import { describe, expect, test } from 'bun:test'
import { chooseCoding, matchesEtag, prefersMarkdown, toWeights } from '../../src/http/negotiation.ts'
import { MAX_LIST_FIELD_LENGTH } from '../../src/limits.ts'

describe('chooseCoding, when br and gzip are offered', () => {
  const CASES = [
    [null, 'identity', 'no header means any coding'],
    ['', 'identity', 'an empty header means no coding'],
    [' , ,', 'identity', 'an empty list'],
    ['gzip', 'gzip', 'the only one that is named'],
    ['GZip', 'gzip', 'case is ignored'],
    ['gzip, zstd, br', 'br', 'of equal weights, the one that the server prefers'],
    ['gzip, deflate', 'gzip', 'codings that are not offered are ignored'],
    ['deflate, compress', 'identity', 'no coding that is offered'],
    ['gzip;q=1, br;q=0.5', 'gzip', 'the one with the highest weight'],
    ['gzip;q=0.001', 'gzip', 'the lowest possible weight'],
    ['br ; q = 0.2 , gzip;q=0.3', 'gzip', 'white space'],
    ['br;Q=0.2,gzip;Q=0.3', 'gzip', 'a capital Q'],
    ['gzip;q=0', 'identity', 'a weight of 0'],
    ['gzip;q=0.000', 'identity', 'a weight of 0 with decimals'],
    ['br;q=0, gzip', 'gzip', 'one is forbidden'],
    ['*', 'br', 'any coding'],
    ['br;q=0, *', 'gzip', 'any except one'],
    ['gzip, *;q=0.5', 'gzip', 'others have less weight'],
    ['*;q=0', 'identity', 'all are forbidden'],
    ['identity', 'identity', 'no coding'],
    ['identity, gzip', 'gzip', 'the same weight as no coding, and smaller'],
    ['identity;q=1, gzip;q=0.5', 'identity', 'no coding has more weight'],
    ['identity;q=0.5, gzip;q=1', 'gzip', 'no coding has less weight'],
    ['identity;q=0, gzip', 'gzip', 'no coding is forbidden'],
    ['identity;q=0, *', 'br', 'no coding is forbidden, any other is allowed'],
    // RFC 9110 section 12.5.3 allows a server to ignore a header that it cannot satisfy.
    ['identity;q=0', 'identity', 'nothing is allowed'],
    ['identity;q=0, *;q=0', 'identity', 'nothing is allowed, said twice'],
    ['gzip;q=x', 'gzip', 'an invalid weight counts as 1'],
    ['gzip;q=2, br;q=0.9', 'gzip', 'a weight above 1 counts as 1'],
    ['gzip;level=9', 'gzip', 'other parameters are ignored'],
  ] as const

  test.each(CASES)('%p: %s, %s', (field, coding) => {
    expect(chooseCoding(field, ['br', 'gzip'])).toBe(coding)
  })

  test('chooses identity when nothing is offered', () => {
    expect(chooseCoding('br, gzip, *', [])).toBe('identity')
  })
})

describe('a field counts as missing above its maximum length', () => {
  const CASES = [
    ['Accept-Encoding', 'gzip', (field: string) => chooseCoding(field, ['gzip']) === 'gzip'],
    ['Accept', 'text/markdown', prefersMarkdown],
    ['If-None-Match', '"a"', (field: string) => matchesEtag(field, '"a"')],
  ] as const

  test.each(CASES)('%s', (_name, value, isUsed) => {
    expect(isUsed(value.padEnd(MAX_LIST_FIELD_LENGTH))).toBe(true)
    expect(isUsed(value.padEnd(MAX_LIST_FIELD_LENGTH + 1))).toBe(false)
  })
})

describe('prefersMarkdown', () => {
  const CASES = [
    [null, false, 'no header'],
    ['*/*', false, 'any type'],
    ['text/*', false, 'any text'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false, 'a browser'],
    ['text/markdown', true, 'only Markdown'],
    ['Text/Markdown; charset=utf-8', true, 'case and parameters are ignored'],
    ['text/markdown, text/html', true, 'the weight of HTML'],
    ['text/html, text/markdown, */*', true, 'the weight of any type'],
    ['text/markdown;q=0.5, text/html;q=0.4', true, 'more weight than HTML'],
    ['text/markdown;q=0.5, text/html', false, 'less weight than HTML'],
    ['text/markdown;q=0.5, text/*', false, 'less weight than any text'],
    ['text/markdown;q=0.5, */*', false, 'less weight than any type'],
    ['text/markdown;q=0', false, 'Markdown is forbidden'],
    ['text/x-markdown', false, 'another type'],
  ] as const

  test.each(CASES)('%p: %p, %s', (field, expected) => {
    expect(prefersMarkdown(field)).toBe(expected)
  })
})

describe('toWeights', () => {
  test('returns names in lower case, with weights from 0 to 1', () => {
    const weights = toWeights('text/HTML;level=1;q=0.25, */*;q=0.1 ,, text/plain;q=1.000, a;q=1.5;b')
    expect([...weights]).toEqual([
      ['text/html', 0.25],
      ['*/*', 0.1],
      ['text/plain', 1],
      ['a', 1],
    ])
  })
})

describe('matchesEtag, with the tag "a"', () => {
  const CASES = [
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a"', true],
    ['"a","b"', true],
    ['  "a"  ', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['W/"b"', false],
    ['"A"', false],
    ['"a-gzip"', false],
    ['"x"a"', false],
    ['"b,"a","c"', false],
    ['"*"', false],
    ['"", "*"', false],
    ['a', false],
    ['', false],
  ] as const

  test.each(CASES)('%p: %p', (field, matches) => {
    expect(matchesEtag(field, '"a"')).toBe(matches)
  })
})

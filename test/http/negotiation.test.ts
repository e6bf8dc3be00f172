import { describe, expect, test } from 'bun:test'
import { chooseCoding, matchesEtag, prefersMarkdown, toWeights } from '../../src/http/negotiation.ts'

describe('chooseCoding, of br, zstd and gzip', () => {
  const CASES = [
    [null, 'identity', 'no field: any will do, so the cheapest for the reader'],
    ['', 'identity', 'an empty field: none is wanted'],
    [' , ,', 'identity', 'an empty list'],
    ['gzip', 'gzip', 'the one that is named'],
    ['GZip', 'gzip', 'case means nothing'],
    ['gzip, zstd, br', 'br', 'of equals, the one the server prefers'],
    ['gzip, deflate', 'gzip', 'what is not offered is passed over'],
    ['deflate, compress', 'identity', 'nothing that is offered'],
    ['gzip;q=1, br;q=0.5', 'gzip', 'the one with the higher weight'],
    ['zstd;q=0.001', 'zstd', 'the lowest weight there is'],
    ['br ; q = 0.2 , gzip;q=0.3', 'gzip', 'white space'],
    ['br;Q=0.2,gzip;Q=0.3', 'gzip', 'a capital Q'],
    ['gzip;q=0', 'identity', 'a weight of nothing'],
    ['gzip;q=0.000', 'identity', 'a weight of nothing, written out'],
    ['br;q=0, gzip', 'gzip', 'all but one'],
    ['*', 'br', 'any'],
    ['br;q=0, *', 'zstd', 'any but one'],
    ['gzip, *;q=0.5', 'gzip', 'any other less'],
    ['*;q=0', 'identity', 'none at all'],
    ['identity', 'identity', 'none'],
    ['identity, gzip', 'gzip', 'as good as none, and smaller'],
    ['identity;q=1, gzip;q=0.5', 'identity', 'better none'],
    ['identity;q=0.5, gzip;q=1', 'gzip', 'better one'],
    ['identity;q=0, gzip', 'gzip', 'one at any rate'],
    ['identity;q=0, *', 'br', 'any one at any rate'],
    // RFC 9110 section 12.5.3 lets a server disregard a field that nothing satisfies.
    ['identity;q=0', 'identity', 'nothing is left'],
    ['identity;q=0, *;q=0', 'identity', 'nothing is left, twice over'],
    ['gzip;q=x', 'gzip', 'a weight that cannot be read counts as 1'],
    ['gzip;q=2, br;q=0.9', 'gzip', 'so does one that is too high'],
    ['gzip;level=9', 'gzip', 'parameters mean nothing'],
  ] as const

  test.each(CASES.map((row) => [...row] as const))('%p: %s, %s', (field, coding) => {
    expect(chooseCoding(field, ['br', 'zstd', 'gzip'])).toBe(coding)
  })

  test('never chooses what is not offered', () => {
    expect(chooseCoding('br, zstd, gzip, *', [])).toBe('identity')
  })
})

describe('prefersMarkdown', () => {
  const CASES = [
    [null, false, 'no field'],
    ['*/*', false, 'any type'],
    ['text/*', false, 'any text'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false, 'a browser'],
    ['text/markdown', true, 'nothing else'],
    ['Text/Markdown; charset=utf-8', true, 'case and parameters mean nothing'],
    ['text/markdown, text/html', true, 'as good as a page'],
    ['text/html, text/markdown, */*', true, 'as good as anything'],
    ['text/markdown;q=0.5, text/html;q=0.4', true, 'better than a page'],
    ['text/markdown;q=0.5, text/html', false, 'a page is better'],
    ['text/markdown;q=0.5, text/*', false, 'any other text is better'],
    ['text/markdown;q=0.5, */*', false, 'anything else is better'],
    ['text/markdown;q=0', false, 'not that'],
    ['text/x-markdown', false, 'something else'],
  ] as const

  test.each(CASES.map((row) => [...row] as const))('%p: %p, %s', (field, expected) => {
    expect(prefersMarkdown(field)).toBe(expected)
  })
})

describe('toWeights', () => {
  test('reads names in lower case, with weights from 0 to 1', () => {
    const weights = toWeights('text/HTML;level=1;q=0.25, */*;q=0.1 ,, text/plain;q=1.000, a;q=1.5;b')
    expect([...weights]).toEqual([
      ['text/html', 0.25],
      ['*/*', 0.1],
      ['text/plain', 1],
      ['a', 1],
    ])
  })
})

describe('matchesEtag, of "a"', () => {
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

  test.each(CASES.map((row) => [...row] as const))('%p: %p', (field, matches) => {
    expect(matchesEtag(field, '"a"')).toBe(matches)
  })
})

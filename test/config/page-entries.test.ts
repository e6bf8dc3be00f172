/** The pages of the site file: valid entries, and the error for each mistake. */

import { describe, expect, test } from 'bun:test'
import { parseSite } from '../../src/config/site-file.ts'

describe('a mistake in pages gives an error with the line and what to use instead', () => {
  const listed = (path: string, rest = '') => `  - path: ${path}\n    lastmod: 2026-01-01\n${rest}`
  const versions = (text: string) => `    alternates:\n${text.replace(/^/gm, '      ')}\n`
  const PATH = 'use a path on this host'
  const OWN = 'remove this path, which Rollcall serves itself'
  const mistakes: Record<string, readonly [text: string, line: number, message: string]> = {
    'a path on another host': [listed('//other.example/a'), 2, PATH],
    'a path without a slash': [listed('about'), 2, PATH],
    'a fragment': [listed('"/about#us"'), 2, PATH],
    'a path with non-ASCII characters': [listed('/über'), 2, PATH],
    'a path with dot segments': [listed('/a/../b'), 2, PATH],
    'a backslash': [listed('/a\\b'), 2, PATH],
    'a path that is too long': [listed(`/${'a'.repeat(1780)}`), 2, PATH],
    'a page that is listed twice': [listed('/a') + listed('/b') + listed('/a'), 6, 'list each page once'],
    'a path of the subscribe page': [listed('/a') + listed('/de'), 4, OWN],
    'a path of a document': [listed('/robots.txt'), 2, OWN],
    'the path of the endpoint': [listed('/api/newsletter'), 2, OWN],
    'no date': ['  - path: /a\n', 2, 'use the date on which the content last changed'],
    'a day that does not exist': [
      '  - path: /a\n    lastmod: 2026-02-30\n',
      3,
      'use the date on which the content last changed',
    ],
    'a date with a time': [
      '  - path: /a\n    lastmod: 2026-02-20T10:00:00Z\n',
      3,
      'use the date on which the content last changed',
    ],
    'an alternate without a language tag': [
      listed('/a', versions('english: /a\nx-default: /a')),
      5,
      'use language tags',
    ],
    'an alternate on another host': [listed('/a', versions('en: https://b.example/\nx-default: /a')), 5, PATH],
    'alternates without the page itself': [
      listed('/a', versions('en: /b\nx-default: /b')) + listed('/b'),
      4,
      'list this page too, "/a"',
    ],
    'alternates without x-default': [
      listed('/a', versions('en: /a')),
      4,
      'list the version for all other languages under x-default',
    ],
    'an alternate that is not listed': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')),
      6,
      'list that page too, with the same alternates',
    ],
    'an alternate without alternates': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')) + listed('/b'),
      6,
      'give that page the same alternates as this one',
    ],
    'an alternate with other alternates': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')) + listed('/b', versions('en: /a\nde: /b\nx-default: /b')),
      6,
      'give that page the same alternates as this one',
    ],
    'an object instead of a list': ['  path: /a\n', 1, 'use a list of pages'],
    'a text instead of an entry': ['  - /a\n', 2, 'use keys with values: path, lastmod, alternates'],
    'an unknown key': [listed('/a', '    lastMod: 2026-01-01\n'), 4, 'unknown key "lastMod"; did you mean "lastmod"?'],
  }
  for (const [name, [text, line, message]] of Object.entries(mistakes)) {
    test(name, () => {
      const parse = () => parseSite(`pages:\n${text}`, 'my.yaml')
      expect(parse).toThrow(new RegExp(`^my\\.yaml:${line}: `))
      expect(parse).toThrow(message)
    })
  }
})

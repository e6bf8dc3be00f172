/** The site file: its defaults, all its members, and one error for each mistake. */

import { describe, expect, test } from 'bun:test'
import { parseSite } from '../../src/config/site-file.ts'
import { LANGUAGE_TAGS } from '../../src/config/texts.ts'
import { UsageError } from '../../src/failure.ts'

describe('a valid site file', () => {
  test('sets every member', () => {
    const text = [
      'name: "  Die Rundschau  "',
      'description: Neues, dann und wann. 你好',
      'note: No ads.',
      'contact: mailto:owner@example.org',
      'home: https://home.example',
      'privacy: http://home.example/privacy?x=1',
      'imprint: https://home.example/imprint',
      'after_subscribe: https://home.example/thanks',
      'social_image: https://home.example/card.png',
      'developers: false',
      'phrases: { subscribe: Los, developers: { title: { de: Technik } } }',
      'license:',
      '  name: MIT',
      '  url: http://license.example/mit',
      'accent: " #FFcc00 "',
      'languages: [de, pt-BR]',
      'pages:',
      '  - path: /archive?year=2026',
      '    lastmod: 2026-05-31',
      '  - { path: /about, lastmod: 2026-02-28, alternates: { en: /about, de: /%C3%BCber, x-default: /about } }',
      '  - { path: /%C3%BCber, lastmod: 2024-02-29, alternates: { x-default: /about, de: /%C3%BCber, en: /about } }',
    ]
    const alternates = { en: '/about', de: '/%C3%BCber', 'x-default': '/about' }
    expect(parseSite(text.join('\n'), 'site.yaml')).toEqual({
      name: 'Die Rundschau',
      description: 'Neues, dann und wann. 你好',
      words: {
        name: 'Die Rundschau',
        description: 'Neues, dann und wann. 你好',
        note: 'No ads.',
        phrases: { subscribe: 'Los', developers: { title: { de: 'Technik' } } },
      },
      contact: 'mailto:owner@example.org',
      home: 'https://home.example',
      privacy: 'http://home.example/privacy?x=1',
      imprint: 'https://home.example/imprint',
      afterSubscribe: 'https://home.example/thanks',
      socialImage: 'https://home.example/card.png',
      developers: false,
      license: { name: 'MIT', url: 'http://license.example/mit' },
      accent: '#ffcc00',
      languages: ['de', 'pt-BR'],
      pages: [
        { path: '/archive?year=2026', lastmod: '2026-05-31' },
        { path: '/about', lastmod: '2026-02-28', alternates },
        { path: '/%C3%BCber', lastmod: '2024-02-29', alternates },
      ],
    })
  })

  test('converts after_subscribe to ASCII, for the Location header', () => {
    const { afterSubscribe } = parseSite('after_subscribe: https://bücher.example/grüße?日#ß', 'site.yaml')
    expect(afterSubscribe).toBe('https://xn--bcher-kva.example/gr%C3%BC%C3%9Fe?%E6%97%A5#%C3%9F')
  })

  for (const text of ['', '\n\n', '# words\n', '---\n', 'null\n', '{}\n', '\uFEFF']) {
    test(`gives the defaults for ${JSON.stringify(text)}`, () => {
      expect(parseSite(text, 'site.yaml')).toEqual({
        name: 'Newsletter',
        description: 'News from this site by email, now and then.',
        words: {},
        developers: true,
        license: { name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' },
        accent: '#2b5a4e',
        languages: LANGUAGE_TAGS,
        pages: [],
      })
    })
  }
})

describe('a mistake gives an error with the file, the line, the value and what to use instead', () => {
  const LINE = (most: number) => `use one line of 1 to ${most} characters`
  const KEYS = 'use keys with values: name, description, note, contact, home'
  const URL_OR_MAILTO = 'use a URL such as https://www.example.org/contact or mailto:'
  const LICENSE = 'license:\n  name: MIT\n  url: '
  const mistakes: (readonly [text: string, line: number, start: string, accepted: string])[] = [
    ['name: ""', 1, 'name is ""', LINE(80)],
    ['# words\n\nname: "  "', 3, 'name is "  "', LINE(80)],
    ['description: d\nname:', 2, 'name is null', LINE(80)],
    ['name: 12', 1, 'name is 12', LINE(80)],
    ['name: true', 1, 'name is true', LINE(80)],
    ['name: [a]', 1, 'name is ["a"]', LINE(80)],
    ['description: { en: a, de: "" }', 1, 'description.de is ""', LINE(300)],
    ['name:\n  de: a', 1, 'name.en is missing', 'add the text in en, the first of the languages'],
    ['languages: [fr, en]\nnote: { en: a }', 2, 'note.fr is missing', 'add the text in fr, the first of the languages'],
    [`note: ${'n'.repeat(201)}`, 1, 'note is "nnn', LINE(200)],
    ['phrases:\n  again: 3', 2, 'phrases.again is 3', LINE(300)],
    [
      'phrases:\n  outcomes:\n    typo: { de: Nein }',
      3,
      'phrases.outcomes.typo.de is "Nein"',
      'use one line of 1 to 300 characters with {address}',
    ],
    ['developers: "no"', 1, 'developers is "no"', 'use true or false'],
    [`name: ${'n'.repeat(81)}`, 1, `name is "${'n'.repeat(81)}"`, LINE(80)],
    ['name: "a\\tb"', 1, 'name is "a\\tb"', LINE(80)],
    ['name: "a\\nb"', 1, 'name is "a\\nb"', LINE(80)],
    ['name: |\n  a\n  b\n', 1, 'name is "a\\nb\\n"', LINE(80)],
    ['name: "a\\0b"', 1, 'name is "a\\u0000b"', LINE(80)],
    ['name: "a\\e[2Jb"', 1, 'name is "a\\u001b[2Jb"', LINE(80)],
    ['name: "a\\x7fb"', 1, 'name is "a\\u007fb"', LINE(80)],
    ['name: "a\\x9bb"', 1, 'name is "a\\u009bb"', LINE(80)],
    ['name: "a\\u2028b"', 1, 'name is "a\\u2028b"', LINE(80)],
    ['name: "a\\uD800b"', 1, 'name is "a\\ud800b"', LINE(80)],
    ['name: n\ndescription: ""', 2, 'description is ""', LINE(300)],
    [`name: n\ndescription: >\n  ${'d'.repeat(301)}`, 2, 'description is "ddd', LINE(300)],
    ['name: n\ncontact: someone', 2, 'contact is "someone"', URL_OR_MAILTO],
    ['contact: owner@example.org', 1, 'contact is "owner@example.org"', URL_OR_MAILTO],
    ['contact: "mailto:"', 1, 'contact is "mailto:"', URL_OR_MAILTO],
    ['contact: mailto:owner', 1, 'contact is "mailto:owner"', URL_OR_MAILTO],
    ['contact: "javascript:alert(1)"', 1, 'contact is "javascript:alert(1)"', URL_OR_MAILTO],
    ['contact: ftp://example.org', 1, 'contact is "ftp://example.org"', URL_OR_MAILTO],
    ['contact: https:example.org', 1, 'contact is "https:example.org"', URL_OR_MAILTO],
    ['contact: "https://"', 1, 'contact is "https://"', URL_OR_MAILTO],
    ['contact: "https://a.example/\\tb"', 1, 'contact is "https://a.example/\\tb"', URL_OR_MAILTO],
    ['contact: "https://a.example/\\nb"', 1, 'contact is "https://a.example/\\nb"', URL_OR_MAILTO],
    ['contact: https://a.example/b c', 1, 'contact is "https://a.example/b c"', URL_OR_MAILTO],
    ['name: n\nlicense: MIT', 2, 'license is "MIT"', 'use keys with values: name, url'],
    ['name: n\n\nlicense:\n  name: MIT', 3, 'license.url is missing', 'use an http or https URL'],
    ['license:\n  url: https://l.example', 1, 'license.name is missing', LINE(80)],
    [`${LICENSE}nowhere`, 3, 'license.url is "nowhere"', 'use an http or https URL'],
    [`${LICENSE}mailto:a@example.org`, 3, 'license.url is "mailto:a@example.org"', 'use an http or https URL'],
    ['- name: n', 1, 'the file is [{"name":"n"}]', KEYS],
    ['\n\n- a\n- b', 3, 'the file is ["a","b"]', KEYS],
    ['just words', 1, 'the file is "just words"', KEYS],
    ['42', 1, 'the file is 42', KEYS],
    ['accent: reddish', 1, 'accent is "reddish"', 'use a colour in six hexadecimal digits'],
    ['accent: "#12345"', 1, 'accent is "#12345"', 'use a colour in six hexadecimal digits'],
    ['languages: de', 1, 'languages is "de"', 'use a list of these tags: en, de'],
    ['languages: [de, xx]', 1, 'languages.1 is "xx"', 'use a list of these tags: en, de'],
    ['languages: []', 1, 'languages is []', 'use at least one language'],
    ['languages: [de, de]', 1, 'languages is ["de","de"]', 'use each language once'],
  ]
  for (const name of ['home', 'sample', 'privacy', 'imprint', 'after_subscribe', 'social_image']) {
    // The host of after_subscribe is in the Content-Security-Policy.
    const hosts = ['ftp://a.example', 'https://a;script-src', 'https://*.a.example/', 'https://a,b/']
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//a.example',
      '/path',
      'mailto:a@a.example',
      '',
      ...hosts,
    ]) {
      mistakes.push([`${name}: "${url}"`, 1, `${name} is "${url}"`, 'use an http or https URL'])
    }
  }
  for (const [text, line, start, accepted] of mistakes) {
    test(JSON.stringify(text).slice(0, 60), () => {
      const message = messageFor(text)
      expect(message).toStartWith(`site.yaml:${line}: ${start}`)
      expect(message).toContain(`: ${accepted}`)
    })
  }

  const known =
    'Known here: name, description, note, contact, home, sample, privacy, imprint, after_subscribe, social_image, developers, license, accent, logo, languages, phrases, pages'
  const tags = `Known here: ${LANGUAGE_TAGS.join(', ')}`
  const unknown: readonly (readonly [text: string, line: number, key: string, meant: string, known: string])[] = [
    ['nmae: n', 1, '"nmae"', 'name', known],
    ['name: n\n\ndescripton: d', 3, '"descripton"', 'description', known],
    ['Name: n', 1, '"Name"', 'name', known],
    ['name: n\nlicence:\n  name: MIT', 2, '"licence"', 'license', known],
    [`${LICENSE}https://l.example\n  nam: x`, 4, '"nam"', 'name', 'Known here: name, url'],
    [`name: n\n${LICENSE}https://l.example\n  uri: x`, 5, '"uri"', 'url', 'Known here: name, url'],
    ['name: n\n"na\\nme": x', 2, '"na\\nme"', 'name', known],
    ['name: n\n__proto__: x', 2, '"__proto__"', 'note', known],
    ['name: n\nconstructor: x', 2, '"constructor"', 'contact', known],
    ['name: n\nnote:\n  en: a\n  ed: b', 4, '"ed"', 'en', tags],
    ['phrases:\n  subscribe: { pt_BR: x }', 2, '"pt_BR"', 'pt-BR', tags],
    [
      'pages:\n  - path: /a\n    lastmod: 2026-01-01\n    lastMod: x',
      4,
      '"lastMod"',
      'lastmod',
      'Known here: path, lastmod, alternates',
    ],
  ]
  for (const [text, line, key, meant, keys] of unknown) {
    test(`unknown key: ${JSON.stringify(text)}`, () => {
      expect(messageFor(text)).toBe(`site.yaml:${line}: unknown key ${key}; did you mean "${meant}"? ${keys}`)
    })
  }

  const syntax: readonly (readonly [text: string, line: number, reason: string])[] = [
    ['name: a\nname: b', 2, 'Map keys must be unique'],
    ['license:\n  name: a\n  url: b\n  name: c', 4, 'Map keys must be unique'],
    ['name: a: b', 1, 'Nested mappings'],
    ['name: n\ncontact: [a', 2, 'Flow sequence'],
    ['name: n\n\tcontact: x', 2, ''],
    ['name: "\\q"', 1, 'Invalid escape sequence'],
    ['name: n\ncontact: @x', 2, 'reserved character @'],
    ['name: n\ncontact: !secret x', 2, 'Unresolved tag: !secret'],
    ['name: n\n---\nname: m', 2, 'there is more than one document'],
    ['name: n\n? [a]\n: b', 2, 'keys must be strings'],
  ]
  for (const [text, line, reason] of syntax) {
    test(`invalid YAML: ${JSON.stringify(text)}`, () => {
      const message = messageFor(text)
      expect(message).toStartWith(`site.yaml:${line}: this is not valid YAML: `)
      expect(message).toContain(reason)
    })
  }

  test('an alias, which may refer to nothing or expand to gigabytes', () => {
    const swelling = 'name: &a [x, x]\ncontact: [*a, *a, *a]'
    expect(messageFor('name: n\ncontact: *nowhere')).toBe('site.yaml:2: "*nowhere" is an alias: write the value itself')
    expect(messageFor(swelling)).toBe('site.yaml:2: "*a" is an alias: write the value itself')
  })
})

/** Returns the error for a site file. It is one line. */
function messageFor(text: string): string {
  try {
    parseSite(text, 'site.yaml')
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    const { message } = error as UsageError
    expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    return message
  }
  throw new Error(`${JSON.stringify(text)} was accepted`)
}

/** The site file: its defaults, all its members, and one error for each mistake. */

import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSite } from '../../src/config/site-file.ts'
import { UsageError } from '../../src/failure.ts'
import { LANGUAGE_TAGS } from '../../src/locales/texts.ts'
import { createPng, JPEG, JPEG_WITH_THUMBNAIL } from '../support/picture.ts'
import { createFolder } from '../support/workspace.ts'

describe('a valid site file', () => {
  test('sets every member', () => {
    const text = [
      'name: "  Die Rundschau  "',
      'description: Neues, dann und wann. 你好',
      'note: No ads.',
      'author: Ann Smith',
      'contact: mailto:owner@example.org',
      'home: https://home.example',
      'issues:',
      '  - { title: Neues, url: https://home.example/17, date: 2026-05-31 }',
      '  - { title: { pt-BR: Antes, de: Zuvor }, url: https://home.example/16, date: 2026-05-24 }',
      'privacy: http://home.example/privacy?x=1',
      'imprint: https://home.example/imprint',
      'after_subscribe: https://bücher.example/grüße?日#ß',
      'confirmation: true',
      'developers: false',
      'phrases: { subscribe: Los, empty: { de: Leer } }',
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
      // In the first language, for documents.
      issues: [
        { title: 'Neues', url: 'https://home.example/17', date: '2026-05-31' },
        { title: 'Zuvor', url: 'https://home.example/16', date: '2026-05-24' },
      ],
      words: {
        name: 'Die Rundschau',
        description: 'Neues, dann und wann. 你好',
        note: 'No ads.',
        issues: [
          { title: 'Neues', url: 'https://home.example/17', date: '2026-05-31' },
          { title: { 'pt-BR': 'Antes', de: 'Zuvor' }, url: 'https://home.example/16', date: '2026-05-24' },
        ],
        phrases: { subscribe: 'Los', empty: { de: 'Leer' } },
        confirmation: true,
      },
      author: 'Ann Smith',
      contact: 'mailto:owner@example.org',
      home: 'https://home.example',
      privacy: 'http://home.example/privacy?x=1',
      imprint: 'https://home.example/imprint',
      // In ASCII, for the Location header.
      afterSubscribe: 'https://xn--bcher-kva.example/gr%C3%BC%C3%9Fe?%E6%97%A5#%C3%9F',
      developers: false,
      license: { name: 'MIT', url: 'http://license.example/mit' },
      accent: { light: '#ffcc00', dark: '#ffcc00' },
      languages: ['de', 'pt-BR'],
      pages: [
        { path: '/archive?year=2026', lastmod: '2026-05-31' },
        { path: '/about', lastmod: '2026-02-28', alternates },
        { path: '/%C3%BCber', lastmod: '2024-02-29', alternates },
      ],
    })
  })

  test.each(['', '# words\n', '---\n', '{}\n', '\uFEFF'])('gives the defaults for %j', (text) => {
    expect(parseSite(text, 'site.yaml')).toEqual({
      name: 'Newsletter',
      description: 'News from this site by email, now and then.',
      issues: [],
      words: { confirmation: false },
      developers: true,
      license: { name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' },
      accent: { light: '#2b5a4e', dark: '#2b5a4e' },
      languages: LANGUAGE_TAGS,
      pages: [],
    })
  })
})

test('an accent may have a color for each theme', () => {
  const { accent } = parseSite('accent: { light: "#0b3d2e", dark: "#8FD0B8" }', 'site.yaml')
  expect(accent).toEqual({ light: '#0b3d2e', dark: '#8fd0b8' })
})

/** A mistake: the text, its line, and the parts of the error. */
type Mistake = readonly [text: string, line: number, start: string, rule: string]

const LINE = (most: number) => `use one line of 1 to ${most} characters`
const KEYS = 'use keys with values: name, description, note, author, portrait, issues, contact, home'
const CONTACT = 'use a URL such as https://www.example.org/contact or mailto:'
const LICENSE = 'license:\n  name: MIT\n  url: '

const MISTAKES: readonly Mistake[] = [
  ['# words\n\nname: "  "', 3, 'name is "  "', LINE(80)],
  ['description: d\nname:', 2, 'name is null', LINE(80)],
  ['description: { en: a, de: "" }', 1, 'description.de is ""', LINE(300)],
  ['name:\n  de: a', 1, 'name.en is missing', 'add the text in en, the first of the languages'],
  ['languages: [fr, en]\nnote: { en: a }', 2, 'note.fr is missing', 'add the text in fr, the first of the languages'],
  [`note: ${'n'.repeat(201)}`, 1, `note is "nn`, LINE(200)],
  ['phrases:\n  again: 3', 2, 'phrases.again is 3', LINE(300)],
  ['phrases:\n  typo: { de: Nein }', 2, 'phrases.typo.de is "Nein"', `${LINE(300)} with {address}`],
  ['phrases: { by: Ann }', 1, 'phrases.by is "Ann"', `${LINE(300)} with {author}`],
  ['confirmation: "yes"', 1, 'confirmation is "yes"', 'use true or false'],
  ['developers: "no"', 1, 'developers is "no"', 'use true or false'],
  ['name: |\n  a\n  b\n', 1, 'name is "a\\nb\\n"', LINE(80)],
  ['name: "a\\e[2Jb"', 1, 'name is "a\\u001b[2Jb"', LINE(80)],
  ['contact: owner@example.org', 1, 'contact is "owner@example.org"', CONTACT],
  ['contact: "javascript:alert(1)"', 1, 'contact is "javascript:alert(1)"', CONTACT],
  ['contact: "https://a.example/\\nb"', 1, 'contact is "https://a.example/\\nb"', CONTACT],
  ['name: n\nlicense: MIT', 2, 'license is "MIT"', 'use a name and a url, or none'],
  ['name: n\n\nlicense:\n  name: MIT', 3, 'license.url is missing', 'use an http or https URL'],
  [`${LICENSE}mailto:a@example.org`, 3, 'license.url is "mailto:a@example.org"', 'use an http or https URL'],
  ['\n\n- a\n- b', 3, 'the file is ["a","b"]', KEYS],
  ['accent: "#12345"', 1, 'accent is "#12345"', 'use a color of six hexadecimal digits'],
  ['accent: { light: "#0b3d2e" }', 1, 'accent.dark is missing', 'use a color of six hexadecimal digits'],
  ['accent: { light: "#0b3d2e", dark: green }', 1, 'accent.dark is "green"', 'use a color of six hexadecimal digits'],
  ['languages: [de, xx]', 1, 'languages.1 is "xx"', 'use a list of these tags: en, de'],
  ['languages: []', 1, 'languages is []', 'use at least one language'],
  ['languages: [de, de]', 1, 'languages is ["de","de"]', 'use each language once'],
  // The host of after_subscribe is in the Content-Security-Policy.
  ...['home', 'privacy', 'imprint', 'after_subscribe'].flatMap((name) =>
    ['data:text/html,x', '//a.example', '/path', '', 'https://a;script-src', 'https://*.a.example/'].map(
      (url): Mistake => [`${name}: "${url}"`, 1, `${name} is "${url}"`, 'use an http or https URL'],
    ),
  ),
]

const issue = (text: string) => `issues:\n  - ${text}`
const ISSUE = '{ title: a, url: https://a.example, date: 2026-01-01 }'
const ISSUES = 'use a list of one to three issues, each with title, url and date'

const ISSUE_MISTAKES: readonly Mistake[] = [
  ['issues: []', 1, 'issues is []', ISSUES],
  ['issues: https://a.example', 1, 'issues is "https://a.example"', ISSUES],
  [`issues:${`\n  - ${ISSUE}`.repeat(4)}`, 1, 'issues is [{"title":"a"', ISSUES],
  [`issues:${`\n  - ${ISSUE}`.repeat(2)}`, 1, 'issues is [{"title":"a"', 'use each url once'],
  [issue('{ title: "", url: https://a.example, date: 2026-01-01 }'), 2, 'issues.0.title is ""', LINE(120)],
  [
    issue('{ title: { de: a }, url: https://a.example, date: 2026-01-01 }'),
    2,
    'issues.0.title.en is missing',
    'add the',
  ],
  [issue('{ title: a, url: /17, date: 2026-01-01 }'), 2, 'issues.0.url is "/17"', 'use an http or https URL'],
  [
    issue('{ title: a, url: https://a.example, date: May 2026 }'),
    2,
    'issues.0.date is "May 2026"',
    'use the date of the',
  ],
  [issue('{ title: a, url: https://a.example }'), 2, 'issues.0.date is missing', 'use the date of the issue'],
]

const page = (path: string, rest = '') => `  - path: ${path}\n    lastmod: 2026-01-01\n${rest}`
const versions = (text: string) => `    alternates: { ${text} }\n`
const PATH = 'use a path on this host'
const DATE = 'use the date on which the content last changed'

const PAGE_MISTAKES: readonly Mistake[] = [
  [page('"/about#us"'), 2, 'pages.0.path is "/about#us"', PATH],
  [page('/über'), 2, 'pages.0.path is "/über"', PATH],
  [page('/a/../b'), 2, 'pages.0.path is "/a/../b"', PATH],
  ['  - path: /a\n', 2, 'pages.0.lastmod is missing', DATE],
  ['  - path: /a\n    lastmod: 2026-02-30\n', 3, 'pages.0.lastmod is "2026-02-30"', DATE],
  ['  - path: /a\n    lastmod: 2026-02-20T10:00:00Z\n', 3, 'pages.0.lastmod is', DATE],
  [page('/a', versions('english: /a, x-default: /a')), 4, 'pages.0.alternates.english is', 'use language tags'],
  [page('/a', versions('en: https://b.example/, x-default: /a')), 4, 'pages.0.alternates.en is', PATH],
  ['  path: /a\n', 1, 'pages is {"path":"/a"}', 'use a list of pages'],
]

describe('a mistake gives an error with the file, the line, the path, the value and the rule', () => {
  const mistakes = [
    ...MISTAKES,
    ...ISSUE_MISTAKES,
    ...PAGE_MISTAKES.map(([text, ...rest]): Mistake => [`pages:\n${text}`, ...rest]),
  ]
  test.each(mistakes)('%#: %j', (text, line, start, rule) => {
    const message = messageFor(text)
    expect(message).toStartWith(`site.yaml:${line}: ${start}`)
    expect(message).toContain(`: ${rule}`)
  })

  const known =
    'use these: name, description, note, author, portrait, issues, contact, home, privacy, imprint, after_subscribe, confirmation, developers, license, accent, logo, card, languages, phrases, pages'
  const tags = `use these: ${LANGUAGE_TAGS.join(', ')}`
  test.each([
    ['name: n\n\ndescripton: d', 3, '"descripton"', known],
    [`name: n\n${LICENSE}https://l.example\n  uri: x`, 5, '"uri"', 'use these: name, url'],
    ['name: n\n"na\\nme": x', 2, '"na\\nme"', known],
    ['name: n\nnote:\n  en: a\n  ed: b', 4, '"ed"', tags],
    ['phrases:\n  subscribe: { pt_BR: x }', 2, '"pt_BR"', tags],
    [`pages:\n${page('/a', '    lastMod: x')}`, 4, '"lastMod"', 'use these: path, lastmod, alternates'],
    ['note: { en: No ads, no tracking., de: Keine }', 1, '"no tracking."', tags],
  ] as const)('unknown key: %j', (text, line, key, keys) => {
    expect(messageFor(text)).toBe(`site.yaml:${line}: unknown key ${key}; ${keys}`)
  })

  test.each([
    ['name: a\nname: b', 2, 'Map keys must be unique'],
    ['name: n\n\tcontact: x', 2, ''],
    ['name: n\ncontact: !secret x', 2, 'Unresolved tag: !secret'],
    ['name: n\n  note: m', 1, 'Nested mappings are not allowed in compact mappings'],
    ['name: n\n---\nname: m', 2, 'there is more than one document'],
    ['name: n\n? [a]\n: b', 2, 'keys must be strings'],
  ])('invalid YAML: %j', (text, line, reason) => {
    const message = messageFor(text)
    expect(message).toStartWith(`site.yaml:${line}: this is not valid YAML: `)
    expect(message).toContain(reason)
  })

  test.each([
    ['name: Gartenbrief: Neues', 1],
    ['note:\n  en: 50% off: now', 2],
    ['name: "Foo" bar\nnote: a: b', 1],
    ...['@home', '`x`', '%x', '& Sons', '!wow it works', '[x] y', '{x} y', '- x', '> x', 'x:'].map(
      (name) => [`name: ${name}`, 1] as const,
    ),
  ] as const)('a text that YAML reads as something else: %j', (text, line) => {
    const message = messageFor(text)
    expect(message).toStartWith(`site.yaml:${line}: this is not valid YAML: `)
    expect(message).toEndWith('; a text with signs such as : needs quotes, as in name: "A: B"')
  })

  test.each(['2026', '1.5', 'true'])('a name that YAML reads as another type: %s', (name) => {
    expect(messageFor(`name: ${name}`)).toEndWith('; a number needs quotes')
    expect(messageFor(`note:\n  en: ${name}`)).toEndWith('; a number needs quotes')
  })

  test('an alias, which may refer to nothing or expand to gigabytes', () => {
    const swelling = 'name: &a [x, x]\ncontact: [*a, *a, *a]'
    expect(messageFor('name: n\ncontact: *nowhere')).toBe(
      'site.yaml:2: "*nowhere" is an alias: write the value itself, in quotes',
    )
    expect(messageFor(swelling)).toBe('site.yaml:2: "*a" is an alias: write the value itself, in quotes')
  })
})

describe('a picture', () => {
  const SVG = '<?xml version="1.0"?>\n<!-- a logo -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'
  const PNG = createPng(2, 1)
  let folder: string
  beforeAll(async () => {
    folder = await createFolder()
    await mkdir(join(folder, 'images'))
    await writeFile(join(folder, 'images/logo.svg'), SVG)
    await writeFile(join(folder, 'logo.png'), PNG)
    await writeFile(join(folder, 'ann.jpg'), JPEG)
    await writeFile(join(folder, 'ann.webp'), 'RIFF....WEBP')
    await writeFile(join(folder, 'text.svg'), 'no picture')
    await writeFile(join(folder, 'signature.png'), PNG.subarray(0, 14))
    await writeFile(join(folder, 'half.png'), PNG.subarray(0, -12))
    await writeFile(join(folder, 'flat.png'), createPng(2, 0))
    await writeFile(join(folder, 'half.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0')
    await writeFile(join(folder, 'inner.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><svg><path/></svg><path d="M0')
    await writeFile(join(folder, 'half.jpg'), JPEG.subarray(0, -2))
    await writeFile(join(folder, 'thumbnail.jpg'), JPEG_WITH_THUMBNAIL)
    await writeFile(join(folder, 'half-with-thumbnail.jpg'), JPEG_WITH_THUMBNAIL.subarray(0, -2))
    await writeFile(join(folder, 'header-with-thumbnail.jpg'), JPEG_WITH_THUMBNAIL.subarray(0, 40))
    await writeFile(join(folder, 'large.svg'), SVG.padEnd(64 * 1024 + 1))
    await writeFile(join(folder, 'largest.svg'), SVG.padEnd(64 * 1024))
  })
  const parse = (logo: string) => parseSite(`name: n\nlogo: ${logo}`, join(folder, 'site.yaml'))

  test('an SVG file by its path from the folder of the site file, and a PNG file by its absolute path', () => {
    const svg = { mediaType: 'image/svg+xml' } as const
    expect(parse('images/logo.svg').logo).toEqual({ ...svg, bytes: Buffer.from(SVG) })
    expect(parse('largest.svg').logo?.bytes).toHaveLength(64 * 1024)
    expect(parse(join(folder, 'logo.png')).logo).toEqual({ mediaType: 'image/png', bytes: PNG })
  })

  test('a card is a PNG file', () => {
    const parseCard = (card: string) => parseSite(`name: n\ncard: ${card}`, join(folder, 'site.yaml')).card
    expect(parseCard('logo.png')?.bytes).toEqual(PNG)
    expect(() => parseCard('images/logo.svg')).toThrow(
      'it is not PNG; use the path of a file in PNG of at most 524288 bytes',
    )
  })

  test('a portrait may be JPEG too, and stands beside the name of an author', () => {
    const parsePortrait = (text: string) => parseSite(`portrait: ${text}`, join(folder, 'site.yaml')).portrait
    expect(parsePortrait('ann.jpg\nauthor: Ann')).toEqual({ mediaType: 'image/jpeg', bytes: JPEG })
    expect(parsePortrait('images/logo.svg\nauthor: Ann')?.mediaType).toBe('image/svg+xml')
    const fail = (text: string) => expect(() => parsePortrait(text))
    fail('ann.jpg').toThrow('site.yaml:1: portrait is "ann.jpg": add author, the name that stands beside the portrait')
    const advice = 'use the path of a file in SVG, PNG, or JPEG of at most 65536 bytes'
    fail('ann.webp\nauthor: Ann').toThrow(`it is not SVG, PNG, or JPEG; ${advice}`)
    expect(parsePortrait('thumbnail.jpg\nauthor: Ann')?.bytes).toEqual(JPEG_WITH_THUMBNAIL)
    for (const half of ['half.jpg', 'half-with-thumbnail.jpg', 'header-with-thumbnail.jpg']) {
      fail(`${half}\nauthor: Ann`).toThrow(`this JPEG file is not whole; ${advice}`)
    }
    fail('large.svg\nauthor: Ann').toThrow(`it has 65537 bytes; ${advice}`)
  })

  test.each([
    ['logo.svg', 'there is no such file or folder'],
    ['logo.png/x', 'logo.png is not a folder: correct the path'],
    ['images', 'it is not a file'],
    ['text.svg', 'it is not SVG or PNG'],
    ['ann.jpg', 'it is not SVG or PNG'],
    ['large.svg', 'it has 65537 bytes'],
    ['signature.png', 'this PNG file is not whole'],
    ['half.png', 'this PNG file is not whole'],
    ['flat.png', 'this PNG file is not whole'],
    ['half.svg', 'this SVG file is not whole'],
    ['inner.svg', 'this SVG file is not whole'],
  ])('%s is not a logo: %s', (logo, reason) => {
    expect(() => parse(logo)).toThrow(
      `${folder}/site.yaml:2: logo is "${logo}": ${reason.replace('logo.png', `${folder}/logo.png`)}; use the path of a file in SVG or PNG of at most 65536 bytes, relative to the folder of the site file`,
    )
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

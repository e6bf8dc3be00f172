/** The settings: what is taken, what is refused, and the one line that says so. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, readConfig, readListUrl } from '../../src/config/config.ts'
import { LANGUAGE_TAGS } from '../../src/config/languages.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { UsageError } from '../../src/failure.ts'

const DEFAULT_SITE = {
  name: 'Newsletter',
  description: 'News from this site by email, now and then.',
  license: { name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' },
  accent: '#2b5a4e',
  languages: LANGUAGE_TAGS,
  pages: [],
}

// Site files are looked for in the working folder, so the tests stand in one of their own.
const home = process.cwd()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-config-'))
  process.chdir(folder)
})
afterAll(async () => {
  process.chdir(home)
  await rm(folder, { recursive: true })
})

describe('the defaults', () => {
  const defaults = {
    port: 3000,
    host: '0.0.0.0',
    baseUrl: 'http://localhost:3000',
    list: { kind: 'sqlite', file: 'data/rollcall.db' },
    site: DEFAULT_SITE,
    corsOrigins: [],
    ops: undefined,
    logLevel: 'info',
  }

  test('an empty environment', () => {
    expect<unknown>(readConfig({})).toEqual(defaults)
  })

  test('variables that are set to nothing count as not set', () => {
    const names = ['PORT', 'HOST', 'BASE_URL', 'DATABASE_URL', 'SITE_FILE', 'CORS_ORIGINS']
    const environment = Object.fromEntries(
      [...names, 'OPS_PORT', 'OPS_HOST', 'LOG_LEVEL'].map((name) => [name, '']),
    )
    expect<unknown>(readConfig(environment)).toEqual(defaults)
  })

  test('BASE_URL follows PORT', () => {
    expect(readConfig({ PORT: '8080' }).baseUrl).toBe('http://localhost:8080')
    expect(readConfig({ PORT: '80' }).baseUrl).toBe('http://localhost')
  })
})

describe('what is taken', () => {
  const cases: readonly (readonly [Environment, object])[] = [
    [{ PORT: '1' }, { port: 1 }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [
      { PORT: '0', BASE_URL: 'http://127.0.0.1:3000' },
      { port: 0, baseUrl: 'http://127.0.0.1:3000' },
    ],
    [{ HOST: '127.0.0.1' }, { host: '127.0.0.1' }],
    [{ HOST: '::' }, { host: '::' }],
    [{ HOST: 'fe80::1' }, { host: 'fe80::1' }],
    [{ HOST: 'localhost' }, { host: 'localhost' }],
    [{ HOST: 'news-1.Example.org' }, { host: 'news-1.Example.org' }],
    [{ HOST: '1a.2b' }, { host: '1a.2b' }],
    [{ BASE_URL: 'https://www.example.org' }, { baseUrl: 'https://www.example.org' }],
    [{ BASE_URL: 'http://example.org:8443' }, { baseUrl: 'http://example.org:8443' }],
    [{ BASE_URL: 'http://[::1]:3000' }, { baseUrl: 'http://[::1]:3000' }],
    [{ BASE_URL: 'https://xn--bcher-kva.example' }, { baseUrl: 'https://xn--bcher-kva.example' }],
    [{ CORS_ORIGINS: '*' }, { corsOrigins: ['*'] }],
    [{ CORS_ORIGINS: 'https://a.example' }, { corsOrigins: ['https://a.example'] }],
    [
      { CORS_ORIGINS: ' https://a.example , http://b.example:81,,https://a.example,' },
      { corsOrigins: ['https://a.example', 'http://b.example:81'] },
    ],
    [{ CORS_ORIGINS: 'https://a.example,*' }, { corsOrigins: ['*'] }],
    [{ OPS_PORT: '9000' }, { ops: { port: 9000, host: '127.0.0.1' } }],
    [{ OPS_PORT: '0' }, { ops: { port: 0, host: '127.0.0.1' } }],
    [{ OPS_PORT: '9000', OPS_HOST: '::1' }, { ops: { port: 9000, host: '::1' } }],
    [{ OPS_HOST: '::1' }, { ops: undefined }],
    ...['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map(
      (logLevel) => [{ LOG_LEVEL: logLevel }, { logLevel }] as const,
    ),
  ]
  for (const [environment, expected] of cases) {
    test(JSON.stringify(environment), () => expect(readConfig(environment)).toMatchObject(expected))
  }
})

describe('where a list may be kept', () => {
  const files = {
    'sqlite:list.db': 'list.db',
    'file:list.db': 'list.db',
    'sqlite:data/list.db': 'data/list.db',
    'sqlite:./data/list.db': './data/list.db',
    'sqlite://data/list.db': 'data/list.db',
    'sqlite:/var/lib/list.db': '/var/lib/list.db',
    'sqlite:///var/lib/list.db': '/var/lib/list.db',
    'file:///var/lib/list.db': '/var/lib/list.db',
    'sqlite:my%20list.db': 'my list.db',
    'sqlite:my list.db': 'my list.db',
    'sqlite:100%.db': '100%.db',
    'sqlite:a%3Fb.db': 'a?b.db',
    'sqlite:me@home.db': 'me@home.db',
  }
  for (const [url, file] of Object.entries(files)) {
    test(url, () => expect(readListUrl({ DATABASE_URL: url })).toEqual({ kind: 'sqlite', file }))
  }

  const databases = [
    'postgres://localhost/rollcall',
    'postgresql://user:secret@db.example:5433/rollcall?sslmode=require',
    'postgres://user:p%40ss@[::1]/rollcall',
  ]
  for (const url of databases) {
    test(url, () => expect(readListUrl({ DATABASE_URL: url })).toEqual({ kind: 'postgres', url }))
  }
})

describe('what is refused, in one line with the variable, the value and what is accepted', () => {
  const refused: Readonly<Record<string, { readonly accepted: string; readonly values: readonly string[] }>> =
    {
      PORT: {
        accepted: 'a port number from 0 to 65535',
        values: ['65536', '-1', '3000.5', '80a', '0x50', '1e3', ' 80', '١٢', 'http', '999999999999'],
      },
      OPS_PORT: { accepted: 'a port number from 0 to 65535', values: ['65536', '-1', 'x'] },
      HOST: {
        accepted: 'an IP address such as 127.0.0.1 or ::, or a host name such as localhost',
        values: [
          ...[
            '1.2.3',
            '256.0.0.1',
            '1.2.3.4.5',
            '[::1]',
            ':::',
            '127.0.0.1:3000',
            'http://localhost',
            '*',
            ' ',
          ],
          ...[
            '-a.example',
            'a-.example',
            'a..example',
            '.a',
            'a.',
            'a_b',
            'a b',
            'bücher.example',
            'user@host',
          ],
          ...['a'.repeat(64), `${'a.'.repeat(127)}ab`, 'localhost/'],
        ],
      },
      OPS_HOST: { accepted: 'an IP address such as 127.0.0.1 or ::', values: ['*', '127.0.0.1:9000', 'a_b'] },
      BASE_URL: {
        accepted: 'an origin such as https://www.example.org',
        values: [
          ...['example.org', 'https://example.org/', 'https://example.org/news', 'https://Example.org'],
          ...[
            'https://example.org?x',
            'https://example.org#x',
            'https://user@example.org',
            'https:example.org',
          ],
          ...[
            'https://example.org:443',
            'http://example.org:80',
            'ftp://example.org',
            'https://bücher.example',
          ],
          ...[
            'https://',
            'null',
            'file:///x',
            ' https://example.org',
            'HTTPS://example.org',
            'http://1.2',
            'https://a"b.example',
            'https://*.example',
          ],
        ],
      },
      LOG_LEVEL: {
        accepted: 'fatal, error, warn, info, debug, trace, silent',
        values: ['INFO', 'verbose', 'warning', '30', ' info'],
      },
      DATABASE_URL: {
        accepted: 'sqlite:PATH, file:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
        values: [
          ...['data/rollcall.db', 'sqlite', 'sqlite:', 'sqlite://', 'file:', 'sqlite:data/', 'file:///'],
          ...['sqlite::memory:', 'sqlite:file:list.db', 'sqlite:list.db?mode=memory', 'sqlite:list.db#x'],
          ...['postgres://', 'postgres:///rollcall', 'mysql://localhost/rollcall'],
        ],
      },
    }
  for (const [name, { accepted, values }] of Object.entries(refused)) {
    for (const value of values) {
      test(`${name}=${value}`, () => {
        const line = lineFor({ [name]: value })
        expect(line).toStartWith(`${name} is "${value}": use `)
        expect(line).toContain(accepted)
      })
    }
  }

  for (const origin of [
    'https://a.example/',
    'a.example',
    'null',
    'https://*.a.example',
    'ftp://a.example',
  ]) {
    for (const list of [origin, `https://b.example,${origin}`, `*,${origin}`]) {
      test(`CORS_ORIGINS=${list}`, () => {
        const line = lineFor({ CORS_ORIGINS: list })
        expect(line).toStartWith(`CORS_ORIGINS holds "${origin}": use * or a comma-separated list`)
        expect(line).toContain('an origin such as https://www.example.org')
      })
    }
  }

  test('PORT=0 without BASE_URL', () => {
    expect(lineFor({ PORT: '0' })).toBe('BASE_URL is missing: it must be given when PORT is 0')
  })

  test('OPS_PORT that is PORT, which is public', () => {
    expect(lineFor({ OPS_PORT: '3000' })).toStartWith('OPS_PORT is "3000": use another port than PORT')
    expect(lineFor({ PORT: '81', OPS_PORT: '081' })).toStartWith(
      'OPS_PORT is "81": use another port than PORT',
    )
  })

  test('a value of many lines is told in one, with its control characters written out', () => {
    for (const name of ['PORT', 'HOST', 'BASE_URL', 'LOG_LEVEL', 'SITE_FILE', 'CORS_ORIGINS', 'OPS_PORT']) {
      expect(lineFor({ [name]: 'a\r\nb\x1B[2J\u2028c' })).toContain('a\\u000d\\u000ab\\u001b[2J\\u2028c')
    }
    expect(lineFor({ DATABASE_URL: 'sqlite:a\nb' })).toContain('"sqlite:a\\u000ab"')
    expect(lineFor({ DATABASE_URL: 'sqlite:a%00b' })).toContain('"sqlite:a%00b"')
  })
})

describe('the password of a wrong DATABASE_URL is never shown', () => {
  const urls = [
    'postgres://rollcall:hunter2@db.example:notaport/rollcall',
    'postgres://rollcall:hunter2@db.example:99999/rollcall',
    'postgres:/rollcall:hunter2@db.example/rollcall',
    'postgres:///rollcall?user=rollcall&password=hunter2',
    'postgres:rollcall:hunter2',
    'postgres//rollcall:hunter2@db.example/rollcall',
    'postgre://rollcall:hunter2@db.example/rollcall',
    'Postgres://rollcall:hunter2@db.example/rollcall',
    ' postgres://rollcall:hunter2@db.example/rollcall',
    'mysql://rollcall:hunter2@db.example/rollcall',
    'mysql://rollcall:hunter2%40db.example/rollcall',
    'rollcall:hunter2@db.example/rollcall',
    'rollcall:hunter2',
    'host=db.example user=rollcall password=hunter2',
    'postgres://rollcall:hunter2@/rollcall?@',
    'postgres://rollcall:hunter2@db .example/rollcall',
    'postgres://rollcall:hun\nter2@:/rollcall',
  ]
  for (const [index, url] of urls.entries()) {
    test(`case ${index}: ${url.replace(/\s/g, ' ')}`, () => {
      const line = lineFor({ DATABASE_URL: url })
      expect(line).not.toMatch(/hun|ter2/)
      expect(line).toStartWith('DATABASE_URL is ')
      expect(line).toContain('not shown: it may hold a password')
      expect(line).toContain('use sqlite:PATH, file:PATH or postgres://')
    })
  }

  test('what is wrong with the scheme can still be seen', () => {
    expect(lineFor({ DATABASE_URL: 'mysql://root:hunter2@db.example/x' })).toStartWith(
      'DATABASE_URL is "mysql:…"',
    )
  })
})

describe('the object is frozen, and its parts', () => {
  const full =
    'name: N\nlicense: { name: L, url: "https://l.example" }\n' +
    'pages: [{ path: /a, lastmod: 2026-01-01, alternates: { en: /a, x-default: /a } }]'
  for (const site of ['', full]) {
    for (const list of ['sqlite:x.db', 'postgres://localhost/x']) {
      test(`${list}, ${site ? 'a site file' : 'no site file'}`, async () => {
        const environment = { DATABASE_URL: list, OPS_PORT: '9000', CORS_ORIGINS: 'https://a.example' }
        const named = site ? { SITE_FILE: await writeSite('frozen.yaml', site) } : {}
        expect(toLoose(readConfig({ ...environment, ...named }), 'config')).toEqual([])
      })
    }
  }
})

describe('the site file', () => {
  test('all that it can say', async () => {
    const text = [
      'name: "  Die Rundschau  "',
      'description: Neues, dann und wann. 你好',
      'contact: mailto:owner@example.org',
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
    const file = await writeSite('full.yaml', text.join('\n'))
    expect(readConfig({ SITE_FILE: file }).site).toEqual({
      name: 'Die Rundschau',
      description: 'Neues, dann und wann. 你好',
      contact: 'mailto:owner@example.org',
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

  for (const text of ['', '\n\n', '# words\n', '---\n', 'null\n', '{}\n', '\uFEFF']) {
    test(`${JSON.stringify(text)} leaves the defaults`, async () => {
      expect(readConfig({ SITE_FILE: await writeSite('empty.yaml', text) }).site).toEqual(DEFAULT_SITE)
    })
  }

  test('site.yaml in the working folder is read unasked; a named file goes before it', async () => {
    await writeSite('site.yaml', 'name: Found')
    expect(readConfig({}).site.name).toBe('Found')
    expect(readConfig({ SITE_FILE: await writeSite('other.yaml', 'name: Named') }).site.name).toBe('Named')
    await writeSite('site.yaml', 'name: ""')
    expect(lineFor({})).toStartWith('site.yaml:1: name is ""')
    await rm('site.yaml')
    await mkdir('site.yaml')
    expect(lineFor({})).toStartWith('SITE_FILE is "site.yaml": it is a folder')
    await rm('site.yaml', { recursive: true })
    expect(readConfig({}).site.name).toBe('Newsletter')
  })

  test('a file that was named and is not there', () => {
    expect(lineFor({ SITE_FILE: 'nowhere.yaml' })).toStartWith(
      'SITE_FILE is "nowhere.yaml": there is no such file or folder; give',
    )
    expect(lineFor({ SITE_FILE: 'no/where.yaml' })).toStartWith(
      'SITE_FILE is "no/where.yaml": there is no such file',
    )
  })

  test('a folder', () => {
    expect(lineFor({ SITE_FILE: folder })).toStartWith(
      `SITE_FILE is "${folder}": it is a folder; give a YAML file`,
    )
  })

  test('a file in another encoding', async () => {
    await writeFile('latin1.yaml', Buffer.from('name: Jürgen', 'latin1'))
    expect(lineFor({ SITE_FILE: 'latin1.yaml' })).toStartWith(
      'SITE_FILE is "latin1.yaml": it is not UTF-8; give',
    )
  })
})

describe('a mistake in the site file gives file, line, value and what is accepted', () => {
  const LINE = (most: number) => `use one line of 1 to ${most} characters`
  const KEYS = 'use keys with values: name, description, contact, license'
  const URL_OR_MAILTO = 'use a URL such as https://www.example.org/contact or mailto:'
  const LICENSE = 'license:\n  name: MIT\n  url: '
  const mistakes: readonly (readonly [text: string, line: number, start: string, accepted: string])[] = [
    ['name: ""', 1, 'name is ""', LINE(80)],
    ['# words\n\nname: "  "', 3, 'name is "  "', LINE(80)],
    ['description: d\nname:', 2, 'name is null', LINE(80)],
    ['name: 12', 1, 'name is 12', LINE(80)],
    ['name: true', 1, 'name is true', LINE(80)],
    ['name: [a]', 1, 'name is ["a"]', LINE(80)],
    ['name: { a: b }', 1, 'name is {"a":"b"}', LINE(80)],
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
    [
      `${LICENSE}mailto:a@example.org`,
      3,
      'license.url is "mailto:a@example.org"',
      'use an http or https URL',
    ],
    ['- name: n', 1, 'the file is [{"name":"n"}]', KEYS],
    ['\n\n- a\n- b', 3, 'the file is ["a","b"]', KEYS],
    ['just words', 1, 'the file is "just words"', KEYS],
    ['42', 1, 'the file is 42', KEYS],
  ]
  for (const [text, line, start, accepted] of mistakes) {
    test(JSON.stringify(text).slice(0, 60), async () => {
      const message = lineFor({ SITE_FILE: await writeSite('wrong.yaml', text) })
      expect(message).toStartWith(`wrong.yaml:${line}: ${start}`)
      expect(message).toContain(`: ${accepted}`)
    })
  }

  const known = 'Known here: name, description, contact, license, accent, logo, languages, pages'
  const unknown: readonly (readonly [
    text: string,
    line: number,
    key: string,
    meant: string,
    known: string,
  ])[] = [
    ['nmae: n', 1, '"nmae"', 'name', known],
    ['name: n\n\ndescripton: d', 3, '"descripton"', 'description', known],
    ['Name: n', 1, '"Name"', 'name', known],
    ['name: n\nlicence:\n  name: MIT', 2, '"licence"', 'license', known],
    [`${LICENSE}https://l.example\n  nam: x`, 4, '"nam"', 'name', 'Known here: name, url'],
    [`name: n\n${LICENSE}https://l.example\n  uri: x`, 5, '"uri"', 'url', 'Known here: name, url'],
    ['name: n\n"na\\nme": x', 2, '"na\\nme"', 'name', known],
    ['name: n\n__proto__: x', 2, '"__proto__"', 'logo', known],
    ['name: n\nconstructor: x', 2, '"constructor"', 'contact', known],
  ]
  for (const [text, line, key, meant, keys] of unknown) {
    test(`an unknown key: ${JSON.stringify(text)}`, async () => {
      const message = lineFor({ SITE_FILE: await writeSite('keys.yaml', text) })
      expect(message).toBe(`keys.yaml:${line}: unknown key ${key}; did you mean "${meant}"? ${keys}`)
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
    test(`YAML that cannot be read: ${JSON.stringify(text)}`, async () => {
      const message = lineFor({ SITE_FILE: await writeSite('syntax.yaml', text) })
      expect(message).toStartWith(`syntax.yaml:${line}: this is not YAML that can be read: `)
      expect(message).toContain(reason)
    })
  }

  test('aliases, which may point nowhere or swell', async () => {
    const swelling = 'name: &a [x, x]\ncontact: [*a, *a, *a]'
    for (const [text, line] of [['name: n\ncontact: *nowhere', 2] as const, [swelling, 2] as const]) {
      const message = lineFor({ SITE_FILE: await writeSite('alias.yaml', text) })
      expect(message).toMatch(
        new RegExp(`^alias\\.yaml:${line}: "\\*(nowhere|a)" is an alias: write the value`),
      )
    }
  })

  test('parseSite says the same by itself, with the name it was given', () => {
    expect(() => parseSite('a: b', 'the file')).toThrow(UsageError)
    expect(() => parseSite('a: b', 'the file')).toThrow('the file:1: unknown key "a"')
  })
})

/** The one line that an environment is refused with. */
function lineFor(environment: Environment): string {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    const { message } = error as UsageError
    expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(message).not.toBe('')
    return message
  }
  throw new Error('it was accepted')
}

async function writeSite(name: string, text: string): Promise<string> {
  await writeFile(name, text)
  return name
}

/** The paths of all objects within a value that are not frozen. */
function toLoose(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, member]) => toLoose(member, `${path}.${key}`))
  return Object.isFrozen(value) ? inner : [path, ...inner]
}

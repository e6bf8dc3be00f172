/** security.txt: its fields, when it exists, and its expiry while the service runs. */

import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createSecurityTxt } from '../../src/documents/security-txt.ts'
import { createDailyHandler } from '../../src/http/daily-handler.ts'
import { DOCUMENTS } from '../../src/routes.ts'
import { startService } from '../support/service.ts'

const { path, mediaType } = DOCUMENTS.securityTxt
const DAY_MS = 86_400_000

afterEach(() => void setSystemTime())

test('it has the fields of RFC 9116, and no signature', async () => {
  const baseUrl = 'https://www.gazette.example'
  const lines = await readFrom('contact: mailto:editor@gazette.example\nlanguages: [de, en]', baseUrl)
  const fields = lines.map((line) => /^([A-Z][A-Za-z-]+): (\S.*)$/.exec(line)!.slice(1))
  expect(fields).toEqual([
    ['Contact', 'mailto:editor@gazette.example'],
    ['Expires', expect.stringMatching(/^\d{4}-\d{2}-\d{2}T00:00:00Z$/)],
    ['Preferred-Languages', 'de, en'],
    ['Canonical', baseUrl + path],
  ])
  const daysAhead = (Date.parse(fields[1]![1]!) - Date.now()) / DAY_MS
  expect(daysAhead).toBeGreaterThan(362)
  expect(daysAhead).toBeLessThan(365)
})

test('it has no http URL (sections 2.5.2 and 2.5.3)', async () => {
  const lines = await readFrom('contact: https://gazette.example/us', 'http://gazette.example')
  expect(lines.map((line) => line.split(':')[0])).toEqual(['Contact', 'Expires', 'Preferred-Languages'])
  expect(await readFrom('contact: http://gazette.example/us', 'http://gazette.example')).toEqual([])
})

test('it does not exist if the site has no contact', async () => {
  expect(await readFrom('name: N', 'https://gazette.example')).toEqual([])
})

test('a process that has run for a year serves the same text as a new one', async () => {
  const write = (today: string) => {
    return createSecurityTxt({
      contact: 'mailto:a@example.org',
      baseUrl: 'https://a.example',
      languages: ['en'],
      today,
    })
  }
  const handle = createDailyHandler({ path, mediaType, write }, {})
  const read = async () => {
    const response = await handle(new Request('https://a.example/'))
    return { etag: response.headers.get('etag'), expires: /Expires: (.+)/.exec(await response.text())![1]! }
  }

  setSystemTime(new Date('2027-02-28T00:00:00Z'))
  const first = await read()
  expect(first.expires).toBe('2028-02-27T00:00:00Z')
  setSystemTime(new Date('2027-02-28T23:59:59.999Z'))
  expect(await read()).toEqual(first)
  setSystemTime(new Date('2028-02-29T12:00:00Z'))
  const later = await read()
  expect(later.expires).toBe('2029-02-27T00:00:00Z')
  expect(later.etag).not.toBe(first.etag)
})

/** Returns the lines of the security.txt of a site, or none if the service has no such file. */
async function readFrom(site: string, baseUrl: string): Promise<string[]> {
  const service = await startService({ site, env: { BASE_URL: baseUrl } })
  const { status, body } = await service.request(path).finally(() => service.stop())
  return status === 200 ? body.trimEnd().split('\n') : []
}

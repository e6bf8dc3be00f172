/** What the page and the logo may load and run: their Content-Security-Policy in literal values. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder, type RunningService, startService } from '../support/service.ts'

let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  await writeFile(
    join(folder, 'logo.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  )
  service = await startService({ folder, site: 'logo: logo.svg\n' })
})
afterAll(async () => {
  await service.stop('SIGKILL')
  await rm(folder, { recursive: true })
})

test.each(['/', '/de'])('the page at %s', async (path) => {
  const { headers } = await fetch(service.origin + path)
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ])
})

test('a logo in SVG runs no scripts when it is opened by itself', async () => {
  const page = await (await fetch(service.origin)).text()
  const [path = ''] = /\/assets\/logo[^"]+/.exec(page) ?? []
  const { status, headers } = await fetch(service.origin + path)
  expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  expect(headers.get('content-security-policy')).toBe(policy)
})

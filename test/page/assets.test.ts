/** The files of the page over HTTP. */

import { expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder, startService } from '../support/service.ts'

test('a logo in SVG runs no scripts when it is opened by itself', async () => {
  const folder = await createFolder()
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  await writeFile(join(folder, 'logo.svg'), logo)
  const service = await startService({ folder, site: 'logo: logo.svg\n' })
  const page = await (await fetch(service.origin)).text()
  const [path = ''] = /\/assets\/logo[^"]+/.exec(page) ?? []
  const { status, headers } = await fetch(service.origin + path)
  expect([status, headers.get('content-type'), headers.get('content-security-policy')]).toEqual([
    200,
    'image/svg+xml',
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  ])
  await service.stop()
  await rm(folder, { recursive: true })
})

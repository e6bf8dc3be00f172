/** The logo: its type depends on its content, and its path starts at the folder of the site file. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSite } from '../../src/config/site-file.ts'
import { createFolder } from '../support/service.ts'

const SVG = '<?xml version="1.0"?>\n<!-- a logo -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'
const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

let folder: string
beforeAll(async () => {
  folder = await createFolder()
  await mkdir(join(folder, 'images'))
  await writeFile(join(folder, 'images/logo.svg'), SVG)
  await writeFile(join(folder, 'logo.png'), PNG)
  await writeFile(join(folder, 'text.svg'), 'no picture')
  await writeFile(join(folder, 'large.svg'), SVG.padEnd(64 * 1024 + 1))
  await writeFile(join(folder, 'largest.svg'), SVG.padEnd(64 * 1024))
})
afterAll(() => rm(folder, { recursive: true }))

const parse = (logo: string) => parseSite(`name: n\nlogo: ${logo}`, join(folder, 'site.yaml'))

test('an SVG file by its path from the folder of the site file, and a PNG file by its absolute path', () => {
  const svg = { mediaType: 'image/svg+xml', extension: '.svg' } as const
  expect(parse('images/logo.svg').logo).toEqual({ ...svg, bytes: Buffer.from(SVG) })
  expect(parse('largest.svg').logo?.bytes).toHaveLength(64 * 1024)
  expect(parse(join(folder, 'logo.png')).logo).toEqual({ mediaType: 'image/png', extension: '.png', bytes: PNG })
})

test.each([
  ['logo.svg', 'there is no such file or folder'],
  ['logo.png/x', 'a part of its path is not a folder'],
  ['images', 'it is not a file'],
  ['text.svg', 'it is neither SVG nor PNG'],
  ['large.svg', 'it has 65537 bytes'],
])('%s is not a logo: %s', (logo, reason) => {
  expect(() => parse(logo)).toThrow(
    `${folder}/site.yaml:2: logo is "${logo}": ${reason}; use the path of an SVG or PNG file of at most 65536 bytes, relative to the folder of the site file`,
  )
})

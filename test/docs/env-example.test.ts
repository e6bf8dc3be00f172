/** .env.example has the settings of docs/settings.md, with their defaults. */

import { expect, test } from 'bun:test'
import { parseEnv } from 'node:util'
import { readConfig } from '../../src/config/config.ts'
import { readText } from '../support/markdown.ts'

const EXAMPLE = parseEnv(readText('.env.example').replace(/^# (?=[A-Z_]+=)/gm, ''))

test('the names are those of the table, in its order', () => {
  const table = [...readText('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name)
  expect(table.length).toBeGreaterThan(9)
  expect(Object.keys(EXAMPLE)).toEqual(table)
})

test('the values are the defaults', () => {
  // There is no site file here, and an example of one is not a default.
  const { SITE_FILE, ...values } = EXAMPLE
  expect(SITE_FILE).toBe('site.yaml')
  expect(readConfig(values)).toEqual(readConfig({}))
})

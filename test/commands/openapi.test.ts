import { expect, test } from 'bun:test'
import { parse } from 'yaml'
import { createCliFixture } from '../support/cli-fixture.ts'

test('prints the same description as YAML and as JSON', async () => {
  const { print } = await createCliFixture()
  const yaml = parse(await print(['openapi']))
  expect(yaml.openapi).toBe('3.1.0')
  expect(JSON.parse(await print(['openapi', '--format', 'json']))).toEqual(yaml)
})

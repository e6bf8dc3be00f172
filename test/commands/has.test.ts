import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'

test.each([
  ['ADA@site.io', 'Ada@site.io has been on the list since 2020-01-02T00:00:00.000Z'],
  [
    'ADA@site.io',
    '{"state":"subscribed","email":"Ada@site.io","subscribed_at":"2020-01-02T00:00:00.000Z","suppressed_at":null,"seq":SEQ}',
  ],
])('%s is on the list: exit code 0, %s', async (address, line) => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'email,date\nAda@site.io,2020-01-02\n')
  const args = ['has', address, ...(line.startsWith('{') ? ['--json'] : [])]
  const { stdout, ...rest } = await run(args)
  expect(rest).toEqual({ code: 0, stderr: '' })
  expect(stdout.replace(/\d{12,}/, 'SEQ')).toBe(`${line}\n`)
})

test.each([
  ['bob@site.io', 'not on the list'],
  ['bob@site.io', '{"state":"absent","email":null,"subscribed_at":null,"suppressed_at":null,"seq":null}'],
  ['old@site.io', 'not on the list: suppressed'],
  ['old@site.io', '{"state":"suppressed","email":null,"subscribed_at":null,"suppressed_at":"NOW","seq":null}'],
])('%s is not on the list: exit code 1, %s', async (address, line) => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'Ada@site.io\nold@site.io\n')
  await print(['remove', 'old@site.io'])
  const args = ['has', address, ...(line.startsWith('{') ? ['--json'] : [])]
  const { stdout, ...rest } = await run(args)
  expect(rest).toEqual({ code: 1, stderr: '' })
  expect(stdout.replace(new RegExp(`${new Date().toISOString().slice(0, 10)}T[0-9:.]+Z`), 'NOW')).toBe(`${line}\n`)
})

test('an invalid address is a usage error', async () => {
  const { run } = await createCliFixture()
  expect(await run(['has', 'nobody\x1b[31m'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'rollcall: "nobody\\u001b[31m": the address has characters that are not printable ASCII\n',
  })
})

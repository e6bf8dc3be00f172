import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'

test.each([
  ['ADA@site.io', 0, 'subscribed', 'Ada@site.io has been on the list since 2020-01-02T00:00:00.000Z\n'],
  ['bob@site.io', 1, 'absent', 'not on the list\n'],
  ['OLD@site.io', 1, 'suppressed', 'not on the list: suppressed\n'],
])('has %s: exit code %d, %s', async (address, code, state, stdout) => {
  const { print, run } = await createCliFixture()
  await print(['import', '-', '--yes'], 'email,date\nAda@site.io,2020-01-02\nold@site.io,\n')
  await print(['remove', 'old@site.io'])
  expect(await run(['has', address])).toEqual({ code, stdout, stderr: '' })
  const json = await run(['has', address, '--json'])
  expect({ code: json.code, state: JSON.parse(json.stdout).state }).toEqual({ code, state })
})

test('has - looks up the one address in standard input, which no log of sudo has', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  expect(JSON.parse(await print(['has', '-', '--json'], 'ADA@site.io\n'))).toMatchObject({ state: 'subscribed' })
  expect(await run(['has', '-'], 'a@site.io\nb@site.io\n')).toMatchObject({
    code: 2,
    stderr: 'rollcall: standard input has more than one address\n',
  })
  expect(await run(['has', '-'], '')).toMatchObject({ code: 2, stderr: 'rollcall: standard input has no address\n' })
})

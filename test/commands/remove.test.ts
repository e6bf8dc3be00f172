/** `remove`: what it says. The tests of the stores have what it does. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { holdBetweenBatches } from '../support/list-file.ts'

test('a removed address is suppressed, and an import skips it', async () => {
  const { print } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  expect(await print(['remove', 'ADA@site.io', 'never@site.io'])).toBe(
    'ADA@site.io: removed\nnever@site.io: was not on the list, now suppressed\n',
  )
  expect(await print(['remove', 'ada@site.io'])).toBe('ada@site.io: suppressed before\n')
  expect(await print(['import', '-'], 'ada@site.io\nnever@site.io\nbob@site.io\n')).toStartWith(
    '0 added, 1 already listed, 2 left out',
  )
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 1, reserved: 0, suppressed: 2 })
})

test('a removal says that the mail tool goes on, if anybody was on the list', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const note = 'the mail of your mail tool goes on: unsubscribe them there too\n'
  expect((await run(['remove', 'ada@site.io'])).stderr).toEndWith(note)
  expect((await run(['remove', 'ada@site.io'])).stderr).not.toContain(note)
})

test('--forget removes without a suppression and deletes one', async () => {
  const { print } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@site.io\n')
  expect(JSON.parse(await print(['remove', 'b@site.io', '--json']))).toMatchObject({
    ...{ removed: 1, suppressed: 0, absent: 0 },
    addresses: [{ email: 'b@site.io', was: 'subscribed', state: 'suppressed' }],
  })
  expect(await print(['remove', '--forget', 'a@site.io', 'b@site.io', 'c@site.io'])).toBe(
    'a@site.io: removed, not suppressed\nb@site.io: no longer suppressed\nc@site.io: was not on the list\n',
  )
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
})

test('- removes the addresses in standard input, or none if one is not valid', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')
  expect(await run(['remove', '-'], 'a@site.io\nnobody\n')).toMatchObject({ code: 2, stdout: '' })
  expect(await run(['remove', '-'], '\n')).toMatchObject({ code: 2, stderr: expect.stringContaining('has no address') })
  expect(await print(['remove', '-', 'b@site.io'], 'a@site.io\r\n\n')).toBe('a@site.io: removed\nb@site.io: removed\n')
  expect(await print(['remove', '--forget', '-'], 'b@site.io\nc@site.io\n')).toBe(
    'b@site.io: no longer suppressed\nc@site.io: removed, not suppressed\n',
  )
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 0, reserved: 0, suppressed: 1 })
})

test('a removal that a signal stops says how far it came, and the same command does the rest', async () => {
  const { folder, print, start, write } = await createCliFixture()
  const addresses = Array.from({ length: 10_000 }, (_, index) => `user.${index}@site.io`)
  const file = await write('list.txt', addresses.join('\n'))
  await print(['import', file])
  const child = start(['remove', ...addresses])
  const release = await holdBetweenBatches(join(folder, 'list.db'), 'suppressions')
  child.kill('SIGINT')
  release()
  expect(await child.exited).toBe(130)
  expect(await child.stdout.text()).toBe('')
  const [, done] = /^([\d,]+) of 10,000 addresses removed; .*\nrollcall: stopped\n$/.exec(await child.stderr.text())!
  const { subscribers, suppressed } = JSON.parse(await print(['count', '--json']))
  expect([subscribers + suppressed, suppressed]).toEqual([10_000, Number(done!.replaceAll(',', ''))])
  expect(JSON.parse(await print(['remove', '--json', ...addresses]))).toMatchObject({
    removed: subscribers,
    suppressed,
  })
})

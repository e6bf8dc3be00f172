import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'

test('prints the state and a chart of thirty days, as text and as JSON', async () => {
  const { list, print } = await createCliFixture()
  const today = new Date().toISOString().slice(0, 10)
  await print(['import', '-'], `email,date\na@site.io,${today}\nb@example.org,${today}\nc@site.io,2020-01-01\n`)
  const text = await print(['status'])
  expect(text).toContain(`list           ${list}, `)
  expect(text).toContain('writable       yes\n')
  expect(text).toContain('addresses      3, 1 of them reserved\n')
  expect(text).toContain('suppressed     0\n')
  expect(text).toContain(`${today}  ${'█'.repeat(40)} 2\n`)
  expect(text.split('\n').filter((line) => /^\d{4}-/.test(line))).toHaveLength(30)
  const status = JSON.parse(await print(['status', '--json']))
  expect(status).toMatchObject({
    list,
    subscribers: 3,
    reserved: 1,
    suppressed: 0,
    writable: true,
    last_accepted_at: `${today}T00:00:00.000Z`,
  })
  expect(status.days).toHaveLength(30)
  expect(status.days.at(-1)).toEqual({ date: today, added: 2 })
})

test('--max-silence sets the exit code', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'email,date\na@site.io,2020-01-01\n')
  expect(await run(['status', '--max-silence', '7d'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^rollcall: the last address was accepted [\d,]+ days ago\n$/),
  })
  await print(['import', '-'], 'b@site.io\n')
  expect(await run(['status', '--max-silence', '7d'])).toMatchObject({ code: 0, stderr: '' })
  await print(['remove', 'a@site.io', 'b@site.io'])
  expect(await run(['status', '--max-silence', '7d'])).toMatchObject({
    code: 1,
    stderr: 'rollcall: no address was ever accepted\n',
  })
  expect((await run(['status', '--max-silence', 'long'])).code).toBe(2)
})

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand, startService } from '../support/service.ts'

test('prints the state and a chart of thirty days, as text and as JSON', async () => {
  const { list, print } = await createCliFixture()
  const today = new Date().toISOString().slice(0, 10)
  await print(['import', '-'], `email,date\na@site.io,${today}\nb@example.org,${today}\nc@site.io,2020-01-01\n`)
  const text = await print(['status'])
  const lines = text.trimEnd().split('\n')
  expect(lines).toContain(`list        ${list}`)
  for (const [name, value] of Object.entries({ writable: 'yes', addresses: '3', reserved: '1', today: '2' })) {
    expect(lines).toContain(name.padEnd(12) + value)
  }
  expect(lines).toContain(`${' '.repeat(29)}█ 2`)
  expect(lines.at(-1)).toEndWith(today)
  expect(lines.length).toBeLessThan(24)
  expect(lines.slice(1).filter((line) => line.length > 40)).toEqual([])
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

test('count prints the number of addresses, while the service runs and after it has stopped', async () => {
  const service = await startService()
  const env = { DATABASE_URL: `sqlite:${service.folder}/data/rollcall.db` }
  expect((await runCommand(['count'], { env })).stdout).toBe('0\n')
  for (const email of ['ada@example.org', 'ADA@example.org', 'bob@example.org']) {
    expect((await service.subscribe(email)).status).toBe(200)
  }
  expect(await runCommand(['count'], { env })).toEqual({ code: 0, stdout: '2\n', stderr: '' })
  expect(await service.stop()).toBe(0)
})

test('count --json has the numbers of reserved and of suppressed addresses', async () => {
  const { print } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@example.org\nc@site.io\n')
  await print(['remove', 'c@site.io'])
  expect(await print(['count'])).toBe('2\n')
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 2, reserved: 1, suppressed: 1 })
})

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand, startService } from '../support/service.ts'

test('prints the number of addresses, while the service runs and after it has stopped', async () => {
  const service = await startService()
  const env = { DATABASE_URL: `sqlite:${service.folder}/data/rollcall.db` }
  expect((await runCommand(['count'], { env })).stdout).toBe('0\n')
  for (const email of ['ada@example.org', 'ADA@example.org', 'bob@example.org']) {
    expect((await service.subscribe(email)).status).toBe(200)
  }
  expect(await runCommand(['count'], { env })).toEqual({ code: 0, stdout: '2\n', stderr: '' })
  expect(await service.stop()).toBe(0)
})

test('--json has the numbers of reserved and of suppressed addresses', async () => {
  const { print } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@example.org\nc@site.io\n')
  await print(['remove', 'c@site.io'])
  expect(await print(['count'])).toBe('2\n')
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 2, reserved: 1, suppressed: 1 })
})

import { expect, test } from 'bun:test'
import { runCommand, startService } from '../support/service.ts'

test('count prints the number of addresses, while the service runs and after', async () => {
  const service = await startService()
  const env = { DATABASE_URL: `sqlite:${service.folder}/data/rollcall.db` }
  expect((await runCommand(['count'], { env })).stdout).toBe('0\n')
  for (const email of ['ada@example.org', 'ADA@example.org', 'bob@example.org']) {
    expect((await service.subscribe(email)).status).toBe(200)
  }
  expect(await runCommand(['count'], { env })).toEqual({ code: 0, stdout: '2\n', stderr: '' })
  expect(await service.stop()).toBe(0)
})

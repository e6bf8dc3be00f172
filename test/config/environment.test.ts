/** The file with the environment of a service. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readEnvironment } from '../../src/config/environment.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { runCommand } from '../support/service.ts'

test('the lines of the file are read as those of an .env file, and a variable of the process comes first', async () => {
  const { folder, write } = await createCliFixture()
  await write('env', "# comment\nBASE_URL=https://list.example.org\n\nHOST='127.0.0.1' # local\nPORT=\n")
  const environment = readEnvironment({ ENV_FILE: join(folder, 'env'), LOG_LEVEL: 'warn', HOST: '', PORT: '80' })
  const { BASE_URL, HOST, LOG_LEVEL, PORT } = environment
  expect([BASE_URL, HOST, LOG_LEVEL, PORT]).toEqual(['https://list.example.org', '127.0.0.1', 'warn', '80'])
})

test('commands work with the list and the ports of the file', async () => {
  const { folder, print, write } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await write('env', 'DATABASE_URL=sqlite:list.db\nOPS_PORT=1\n')
  const count = (env: Record<string, string>) => runCommand(['count', '--json'], { folder, env })
  expect((await count({ ENV_FILE: 'env' })).stdout).toContain('"subscribers":1')
  expect((await count({ ENV_FILE: 'env', DATABASE_URL: 'sqlite:none.db' })).code).toBe(1)
  expect((await runCommand(['healthcheck'], { folder, env: { ENV_FILE: 'env' } })).stderr).toContain('127.0.0.1:1')
})

test('a file that cannot be read is an error', async () => {
  const stderr = expect.stringContaining(
    'ENV_FILE is "none": there is no such file or folder; use a file with lines NAME=',
  )
  expect(await runCommand(['count'], { env: { ENV_FILE: 'none' } })).toEqual({ code: 2, stdout: '', stderr })
})

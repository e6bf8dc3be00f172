/** The env file: which lines it may have, and that a file with a mistake is refused, instead of another list being used. */

import { expect, test } from 'bun:test'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { parseEnvFile, readEnvironment, SETTINGS } from '../../src/config/environment.ts'
import { createCliFixture } from '../support/cli-fixture.ts'
import { ROOT } from '../support/paths.ts'
import { runCommand } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const parse = (content: string | Uint8Array) => parseEnvFile(Buffer.from(content), 'the file')

test.each<readonly [content: string, variables: Readonly<Record<string, string>>]>([
  ['# comment\n\n  PORT = 81 # local\nexport HOST=::\nBASE_URL=', { PORT: '81', HOST: '::', BASE_URL: '' }],
  ['\ufeffPORT=81\r\nHOST=::\r\n', { PORT: '81', HOST: '::' }],
  ['SITE_FILE=\'my #1.yaml\'\nKEY="two=2" # two\nPORT=81', { SITE_FILE: 'my #1.yaml', KEY: 'two=2', PORT: '81' }],
  // Names of other programs.
  [
    'PATH=/bin\nHOSTNAME=a\nPGPASSWORD=x\nHTTP_PORT=1\nSMTP_HOST=b\n_x=1',
    { PATH: '/bin', HOSTNAME: 'a', HTTP_PORT: '1' },
  ],
])('%j is read', (content, variables) => expect(parse(content)).toMatchObject(variables))

const NO_LINE = 'is not NAME=value'

test.each<readonly [content: string | Uint8Array, says: string]>([
  ['PORT=81\nDATABASE_URL: sqlite:x.db\n', `line 2 ${NO_LINE}`],
  ["PORT=81\nKEY='a\nb'\n", `line 2 ${NO_LINE}`],
  ['BASE-URL=x', `line 1 ${NO_LINE}`],
  ['=x', `line 1 ${NO_LINE}`],
  ['PORT="81', `line 1 ${NO_LINE}`],
  ['PORT= "81', `line 1 ${NO_LINE}`],
  ["PORT='81' x\nHOST='::'", `line 1 ${NO_LINE}`],
  // Without quotes, the rest would be a comment, and the list another one.
  ['DATABASE_URL=sqlite:list#2.db', `line 1 ${NO_LINE}`],
  ['', 'which has no line NAME=value'],
  ['# PORT=81\n\n', 'which has no line NAME=value'],
  [Buffer.from('\ufeffPORT=81\n', 'utf16le'), 'which is not text in UTF-8'],
  [Buffer.from('PORT=81\n', 'utf16le'), 'which is not text in UTF-8'],
  [Buffer.from('SITE_FILE=é.yaml\n', 'latin1'), 'which is not text in UTF-8'],
  ['PORT=81\rHOST=::\r', 'which is not text in UTF-8'],
  ['\u007fELF\u0002', 'which is not text in UTF-8'],
])('%j is refused: %s', (content, says) =>
  expect(() => parse(content)).toThrow(`the file, ${says.startsWith('line') ? `and ${says}` : says}`),
)

test.each([
  ['DATABASE_URl', 'DATABASE_URL'],
  ['database_url', 'DATABASE_URL'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URLS', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASE_URL_FIEL', 'DATABASE_URL_FILE'],
  ['BASEURL', 'BASE_URL'],
  ['Base_Url', 'BASE_URL'],
  ['PROT', 'PORT'],
  ['OPSPORT', 'OPS_PORT'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['SITE__FILE', 'SITE_FILE'],
])('the name %s is refused, because %s is meant', (name, meant) => {
  expect(() => parse(`TZ=UTC\n${name}=secret`)).toThrow(`the file, and line 2 has ${name}: use ${meant}`)
})

test('the names that are known are those that the code reads', () => {
  const names = new Set<string>()
  const recorder = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        names.add(String(name))
        return name === 'ENV_FILE' ? '/dev/null' : undefined
      },
    },
  )
  readConfig(recorder)
  readEnvironment(recorder)
  expect([...names].sort()).toEqual([...SETTINGS].sort())
})

test('with a wrong env file no command runs, and nothing is created; a variable of the process may have any name', async () => {
  const { folder, write } = await createCliFixture()
  await write('env', 'DATABASE_URL=sqlite:x.db\nBASEURL=https://list.example.org\n')
  const stderr = 'rollcall: ENV_FILE is "env", and line 2 has BASEURL: use BASE_URL\n'
  for (const verb of [['serve'], ['count'], ['import', '-'], ['healthcheck']]) {
    expect(await runCommand(verb, { folder, env: { ENV_FILE: 'env' } })).toEqual({ code: 2, stdout: '', stderr })
  }
  expect(readdirSync(folder)).toEqual(['env'])
  await write('env', 'DATABASE_URL=sqlite:x.db\n')
  const env = { ENV_FILE: 'env', BASEURL: 'x', DATABASE_URl: 'x', database_url: 'x' }
  expect((await runCommand(['import', '-'], { folder, env, stdin: 'ada@site.io' })).code).toBe(0)
  expect(readdirSync(folder).sort()).toEqual(['env', 'x.db'])
})

test('npm run dev does not read the env file of an installed package', async () => {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
  const script = scripts.dev.replace(/exec bun .*/, 'exec printenv ENV_FILE')
  const run = async (env = {}) => (await runCommand(['-c', script], { program: ['sh'], env: { ...env } })).stdout
  expect(await run({ ENV_FILE: '' })).toBe('/dev/null\n')
  expect(await run({ ENV_FILE: 'own' })).toBe('own\n')
})

test('with /dev/null there is no env file, so no site.yaml is looked for beside it', () => {
  const { PORT, ENV_FILE } = readEnvironment({ PORT: '81', ENV_FILE: '/dev/null' })
  expect({ PORT, ENV_FILE }).toEqual({ PORT: '81', ENV_FILE: undefined })
})

test('the file of the service may be missing, but one that cannot be read is an error: its list would not be used', async () => {
  const folder = await createFolder()
  expect(readEnvironment({ PORT: '81' }, join(folder, 'none/env'))).toEqual({ PORT: '81' })
  // Nobody can read a folder, or a link to itself, as a file. Root can read everything else.
  expect(() => readEnvironment({}, folder)).toThrow(`ENV_FILE is "${folder}": it is a folder`)
  symlinkSync('loop', join(folder, 'loop'))
  expect(() => readEnvironment({}, join(folder, 'loop'))).toThrow('/loop": ')
})

/** Completion in bash. `npm run test:shells` has the other shells. */

import { expect, test } from 'bun:test'
import { CASES, complete, prepareFolder, SHELLS } from '../shells/shells.ts'
import { createCliFixture } from '../support/cli-fixture.ts'

test('bash completes verbs, options, their values, and names of files', async () => {
  const { folder } = await createCliFixture()
  await prepareFolder(folder, SHELLS.bash)
  const found = await Promise.all(CASES.map(async ([line]) => [line, ...(await complete(line, SHELLS.bash, folder))]))
  expect<unknown>(found).toEqual(CASES)
})

test.each(['bash', 'zsh', 'fish'])('the completion of %s has every verb and every option', async (shell) => {
  const { print } = await createCliFixture()
  const script = await print(['completion', shell])
  const help = await print(['--help'])
  const verbs = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, verb = '']) => verb)
  expect(verbs).toContain('backup')
  for (const verb of verbs) expect(script).toContain(verb)
  const options = [...(await print(['export', '--help'])).matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name = '']) => name)
  expect(options).toContain('cursor-file')
  for (const option of options) expect(script).toMatch(RegExp(`${shell === 'fish' ? '-l ' : '--'}${option}\\b`))
})

test('another shell is a usage error', async () => {
  const { run } = await createCliFixture()
  expect(await run(['completion', 'csh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh, fish'),
  })
})

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'

test('the manual page has every verb with its options, and no character that roff would read as a command', async () => {
  const { print } = await createCliFixture()
  const page = await print(['man'])
  const verbs = [...(await print(['--help'])).matchAll(/^ {2}([a-z]+) /gm)].map(([, verb = '']) => verb)
  expect(verbs).toContain('backup')
  for (const verb of verbs.filter((name) => name !== 'help')) expect(page).toContain(`.SS rollcall ${verb} `)
  expect(page).toContain('.TP\n.B \\-\\-cursor\\-file <file>\nStart after the cursor in this file')
  const macros = new Set(page.match(/^[.'].*?(?= |$)/gm))
  expect(macros).toEqual(new Set(['.TH', '.SH', '.SS', '.TP', '.B', '.PP']))
  expect(page).toMatch(/^[\n -~]*$/)
})

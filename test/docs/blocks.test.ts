/**
 * Every block of code in the README, in CONTRIBUTING and in docs/ is run. A block without a runner fails.
 *
 * The blocks of a file run in order, in one folder. By the first word of the info string:
 *
 *   sh     is run by bash; a failed command fails. `npm start` leaves the service running for the blocks that follow.
 *          With a name, it is a script that is kept under that name
 *   json   equals the output of the sh block before it
 *   text   equals the standard output, then the standard error, of the sh block before it
 *   yaml   is a site file; the service takes it. It is kept under the name that follows the language
 *   csv    is kept under the name that follows the language
 *   html   is a form, which is sent
 *   js     is run by bun
 *
 * A text block with the name "record" is what a check printed that needs more than `npm ci`. It is not run here.
 *
 * test/support/doc-runner.ts lists what is replaced: hosts, ports and a few programs.
 */

import { expect, test } from 'bun:test'
import { createDocRunner } from '../support/doc-runner.ts'
import { type Block, MARKDOWN_FILES, readBlocks } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

/** Blocks of these files are run elsewhere, by the language and the name of the block. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // architecture.test.ts. The tables are those of the schema.
  'ARCHITECTURE.md': ['text flow', 'text map', 'text imports', 'text tables'],
  // test/page/owner.test.ts, in a browser.
  'docs/page.md': ['html own-form'],
  // build/archive.test.ts reads the first one; the other one needs an installation.
  // They need other programs, and say whether they were run.
  'docs/operations.md': ['sh restic.sh', 'yaml litestream.yml', 'sh litestream.sh', 'yaml prometheus.yml'],
  'docs/deploy.md': ['sh install', 'sh command'],
}

const isRunElsewhere = ({ file, language, name }: Block) =>
  (language === 'text' && name === 'record') || (RUN_ELSEWHERE[file]?.includes(`${language} ${name}`) ?? false)

const FILES = MARKDOWN_FILES.filter((file) => readBlocks(file).some((block) => !isRunElsewhere(block)))

test.concurrent.each(FILES)('every block of %s works', async (file) => {
  const runner = await createDocRunner()
  try {
    for (const block of readBlocks(file)) {
      if (isRunElsewhere(block)) continue
      await runner.run(block).catch((error: Error) => {
        throw new Error(`${file}:${block.line}: the ${block.language} block: ${error.message}`)
      })
    }
  } finally {
    await runner.close()
  }
})

test.concurrent('npx rollcall runs the command line of the checkout', async () => {
  const child = Bun.spawn(['npx', 'rollcall', '--help'], { cwd: ROOT, stdout: 'pipe' })
  expect(await child.stdout.text()).toContain('Usage: rollcall')
  expect(await child.exited).toBe(0)
})

test('a block without a runner fails', async () => {
  const runner = await createDocRunner()
  const block = { file: 'x.md', line: 1, name: '', text: '' }
  await expect(runner.run({ ...block, language: 'cobol' })).rejects.toThrow('no runner for the language "cobol"')
  await expect(runner.run({ ...block, language: '' })).rejects.toThrow('no runner for the language ""')
  await runner.close()
})

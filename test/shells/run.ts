/**
 * `npm run test:shells`: completes commands in bash, zsh and fish, and checks the manual page with mandoc.
 *
 * Not part of `npm test`: the programs must be installed. Exit code 1 when one is missing, or when a check fails.
 */

import { rm } from 'node:fs/promises'
import { requirePrograms } from '../support/programs.ts'
import { createFolder, runCommand } from '../support/service.ts'
import { CASES, complete, prepareFolder, SHELLS, type Shell } from './shells.ts'

requirePrograms({ bash: 'bash', zsh: 'zsh', fish: 'fish', mandoc: 'mandoc' })

const problems = await checkManual()
for (const shell of Object.values(SHELLS)) problems.push(...(await checkShell(shell)))
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

async function checkShell(shell: Shell): Promise<string[]> {
  const folder = await createFolder()
  await prepareFolder(folder, shell)
  const wrong: string[] = []
  for (const [line, ...words] of CASES) {
    const offered = await complete(line, shell, folder)
    if (!Bun.deepEquals(offered, words)) wrong.push(`${shell.name}: "${line}" offers ${JSON.stringify(offered)}`)
  }
  await rm(folder, { recursive: true })
  console.log(`${shell.name}: ${CASES.length - wrong.length} of ${CASES.length} lines are completed`)
  return wrong
}

/** Runs the linter. It also warns about long lines, which are a matter of style. */
async function checkManual(): Promise<string[]> {
  const { stdout } = await runCommand(['man'])
  const linter = Bun.spawn(['mandoc', '-Tlint', '-Wwarning'], { stdin: new Blob([stdout]), stdout: 'pipe' })
  const text = await linter.stdout.text()
  console.log(`mandoc: ${text === '' ? 'no warnings' : 'warnings'}`)
  return text.split('\n').filter(Boolean)
}

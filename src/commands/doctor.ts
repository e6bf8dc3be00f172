import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { ListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { type CheckResult, runCheck } from '../store/check.ts'
import { toListName } from '../store/list-name.ts'
import { checkStore } from '../store/open.ts'
import type { Numbering } from '../subscriber.ts'
import { checkCursor, readCursorFile } from '../transfer/cursor-file.ts'
import { createListCommand, type ListOption, parseListOption } from './list-command.ts'
import { print, printJson, toCount } from './output.ts'

interface DoctorOptions extends ListOption {
  readonly cursorFile: readonly string[]
  readonly json?: true
}

/** `rollcall doctor`: checks the settings and the list, and changes nothing. */
export function createDoctorCommand(): Command {
  return createListCommand(
    'doctor',
    'Check the settings and the list, and say what to do; change nothing, also while the service runs',
    'rollcall doctor --cursor-file sync.cursor',
  )
    .option(
      '--cursor-file <file>',
      'Check the cursor in this file too; may be repeated',
      (file: string, files: readonly string[]) => [...files, file],
      [],
    )
    .option('--json', 'Print JSON')
    .action(async (options: DoctorOptions) => {
      const list = findList(options)
      const results: CheckResult[] = []
      for await (const result of runChecks(list, options.cursorFile)) {
        results.push(result)
        if (!options.json) await print(toLine(result))
      }
      const wrong = results.filter(({ ok }) => !ok).length
      const name = list ? toListName(list) : null
      if (options.json) await printJson('doctor', { list: name, ok: wrong === 0, checks: results })
      if (wrong > 0) throw new Failure(`${toCount(wrong, 'check')} of ${results.length} found something wrong`)
    })
}

/** Finds the list; undefined when the settings do not name one, which is a check. */
function findList(options: ListOption): ListUrl | undefined {
  try {
    return parseListOption(options)
  } catch (error) {
    if (!(error instanceof UsageError) || options.list !== undefined) throw error
    return undefined
  }
}

async function* runChecks(list: ListUrl | undefined, files: readonly string[]): AsyncGenerator<CheckResult> {
  // Imported here because other commands need no YAML.
  const { readConfig } = await import('../config/config.ts')
  yield runCheck('settings', () => `valid; BASE_URL is ${readConfig().baseUrl}`)
  if (!list) return
  const cursors = files.map((file) => ({
    check: `cursor ${file}`,
    run: (found: Numbering) => checkCursorFile(file, found),
  }))
  yield* checkStore(list, cursors)
}

async function checkCursorFile(file: string, found: Numbering): Promise<string> {
  if (!existsSync(file)) throw new Failure('there is no such file: an export would start at the first subscriber')
  const { seq } = await checkCursor({ numbering: async () => found }, await readCursorFile(file))
  return `it is at ${seq}, and the list ends at ${found.last}`
}

function toLine({ check, ok, message }: CheckResult): string {
  return `${check.padEnd(14)} ${ok ? 'ok' : 'wrong'}: ${message}`
}

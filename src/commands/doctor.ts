import type { Command } from 'commander'
import type { ListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { type CheckResult, runCheck } from '../store/check.ts'
import { toListName } from '../store/list-name.ts'
import { checkStore } from '../store/open.ts'
import { createListCommand, type ListOption, parseListOption } from './list-command.ts'
import { print, printJson, toCount } from './output.ts'

interface DoctorOptions extends ListOption {
  readonly json?: true
}

/** `rollcall doctor`: checks the settings and the list, and changes nothing. */
export function createDoctorCommand(): Command {
  return createListCommand(
    'doctor',
    'Check the settings and the list, and say what to do; change nothing, also while the service runs',
    'rollcall doctor',
  )
    .option('--json', 'Print JSON')
    .action(async (options: DoctorOptions) => {
      const list = findList(options)
      const results: CheckResult[] = []
      for await (const result of runChecks(list)) {
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

async function* runChecks(list: ListUrl | undefined): AsyncGenerator<CheckResult> {
  // Imported here because other commands need no YAML.
  const { readConfig } = await import('../config/config.ts')
  yield runCheck('settings', () => `valid; BASE_URL is ${readConfig().baseUrl}`)
  if (list) yield* checkStore(list, [])
}

function toLine({ check, ok, message }: CheckResult): string {
  return `${check.padEnd(14)} ${ok ? 'ok' : 'wrong'}: ${message}`
}

import { resolve } from 'node:path'
import { type Config, readConfig } from '../config/config.ts'
import type { ListUrl } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { type CheckResult, runCheck } from '../store/check.ts'
import { toListName } from '../store/list-name.ts'
import { checkStore } from '../store/open.ts'
import { askService } from './healthcheck.ts'
import { type ListOption, parseListOption } from './list-command.ts'
import { print, printJson, toCount } from './output.ts'

/** `rollcall doctor`: checks the settings and the list, and changes nothing. */
export async function doctor({ json, ...options }: ListOption & { json?: true }): Promise<void> {
  const list = findList(options)
  const results: CheckResult[] = []
  for await (const result of runChecks(list)) {
    results.push(result)
    if (!json) await print(`${result.check.padEnd(14)} ${result.ok ? 'ok' : 'wrong'}: ${result.message}`)
  }
  const wrong = results.filter(({ ok }) => !ok).length
  if (json) await printJson({ list: list ? toListName(list) : null, ok: wrong === 0, checks: results })
  if (wrong > 0) throw new Failure(`${toCount(wrong, 'check')} of ${results.length} found something wrong`)
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
  const settings = await runCheck('settings', () => `valid; BASE_URL is ${readConfig().baseUrl}`)
  yield settings
  if (settings.ok && list) yield await runCheck('service', () => checkService(list, readConfig()))
  if (list) yield* checkStore(list)
}

/** Compares the settings of the running service with those of this command. @throws Failure */
async function checkService(list: ListUrl, { ops, baseUrl }: Config): Promise<string> {
  if (!ops) return 'not asked, because OPS_PORT is not set'
  const answer = await askService(ops, '/config')
  if (answer === undefined) return 'it does not run'
  const running: { readonly base_url?: string; readonly list?: string } = JSON.parse(answer)
  const name = toListName(toAbsolute(list))
  const differences = [
    ...(running.base_url === baseUrl ? [] : [`BASE_URL ${running.base_url}, and not ${baseUrl}`]),
    ...(running.list === name ? [] : [`the list ${running.list}, and not ${name}`]),
  ]
  if (differences.length === 0) return 'it runs with these settings'
  throw new Failure(`it runs with ${differences.join('; and with ')}: give this command the settings of the service`)
}

function toAbsolute(list: ListUrl): ListUrl {
  return list.kind === 'sqlite' ? { ...list, file: resolve(list.file) } : list
}

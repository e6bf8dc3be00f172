import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../config/config.ts'
import { type ListUrl, toListName } from '../config/list-url.ts'
import { Failure, UsageError } from '../failure.ts'
import { listLeftovers } from '../files.ts'
import { type CheckResult, type CursorCheck, runCheck } from '../store/check.ts'
import { checkStore } from '../store/open.ts'
import { checkCursor, readCursor } from '../transfer/cursor-file.ts'
import { askService } from './healthcheck.ts'
import { type ListOption, parseListOption } from './list-command.ts'
import { print, printJson, toCount } from './output.ts'

export interface DoctorOptions extends ListOption {
  readonly json?: true
  readonly cursorFile?: string
}

/** `rollcall doctor`: checks the settings and the list, and changes nothing. */
export async function doctor({ json, cursorFile, ...options }: DoctorOptions): Promise<void> {
  const list = findList(options)
  const results: CheckResult[] = []
  for await (const result of runChecks(list, cursorFile)) {
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

async function* runChecks(list: ListUrl | undefined, cursorFile: string | undefined): AsyncGenerator<CheckResult> {
  const settings = await runCheck('settings', () => `valid; BASE_URL is ${readConfig().baseUrl}`)
  yield settings
  if (settings.ok && list) yield await runCheck('service', () => checkService(list, readConfig()))
  yield await runCheck('partial files', () => checkPartialFiles(cursorFile))
  if (list) yield* checkStore(list, cursorFile === undefined ? [] : [createCursorCheck(cursorFile)])
}

/** Compares the settings of the running service with those of this command. @throws Failure */
async function checkService(list: ListUrl, { ops, baseUrl }: Config): Promise<string> {
  if (!ops) return 'not asked, because OPS_PORT is not set'
  const answer = await askService(ops, '/config')
  if (answer === undefined) return 'it does not run'
  const running: { readonly base_url?: string; readonly list?: string } = JSON.parse(answer)
  const name = toListName(list.kind === 'sqlite' ? { ...list, file: resolve(list.file) } : list)
  const differences = [
    ...(running.base_url === baseUrl ? [] : [`BASE_URL ${running.base_url}, and not ${baseUrl}`]),
    ...(running.list === name ? [] : [`the list ${running.list}, and not ${name}`]),
  ]
  if (differences.length === 0) return 'it runs with these settings'
  throw new Failure(`it runs with ${differences.join('; and with ')}: give this command the settings of the service`)
}

/** Looks in the working folder and in that of the cursor file, where exports usually are. @throws Failure */
async function checkPartialFiles(cursorFile = ''): Promise<string> {
  const folders = [...new Set(['.', dirname(cursorFile)])]
  const found = await Promise.all(
    folders.map(async (folder) => (await listLeftovers(folder)).map((name) => join(folder, name))),
  )
  if (found.flat().length === 0) return `none in ${folders.map((folder) => resolve(folder)).join(' and ')}`
  throw new Failure(`killed commands left files with addresses: delete ${found.flat().join(', ')}`)
}

function createCursorCheck(file: string): CursorCheck {
  return {
    check: 'cursor',
    async run(head) {
      if (!existsSync(file))
        throw new Failure(`${file}: there is no such file; an export with it starts at the first subscriber`)
      const { seq } = await checkCursor({ head: async () => head }, readCursor(file))
      return `${file}: an export continues after ${seq}`
    },
  }
}

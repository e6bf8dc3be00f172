import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { type Config, readConfig } from '../config/config.ts'
import { type ListUrl, toAbsoluteName, toListName } from '../config/list-url.ts'
import { Failure, toErrorCode } from '../failure.ts'
import type { OpsOptions } from '../http/ops.ts'
import { listLeftovers } from '../leftovers.ts'
import { HEALTH_DEADLINE_MS } from '../limits.ts'
import { DOCUMENTS, ENDPOINT } from '../routes.ts'
import { type CheckResult, type CursorCheck, checkWaiting, NotChecked, runCheck } from '../store/check.ts'
import { checkStore } from '../store/open.ts'
import { listRescues } from '../store/sqlite/backup.ts'
import type { ListHead } from '../subscriber.ts'
import { checkCursor, readCursor } from '../transfer/cursor-file.ts'
import { VERSION } from '../version.ts'
import { quotePath, toCount } from '../words.ts'
import { askService } from './healthcheck.ts'
import { print, printJson } from './output.ts'
import { nameList, parseListOption, type VerbOptions } from './shared.ts'

/** `cursorFile` is that of an export. Without it, the cursors of recipes are looked for. */
type DoctorOptions = VerbOptions & { readonly cursorFile?: string }

/** `rollcall doctor`: prints what it finds, and what to do. What it tries in the list, it takes back. */
export async function doctor({ json, cursorFile, ...options }: DoctorOptions): Promise<void> {
  const list = parseListOption(options)
  const results: CheckResult[] = []
  for await (const found of runChecks(list, cursorFile)) {
    const result = { ...found, message: nameList(found.message, options) }
    results.push(result)
    if (!json) await print(toLine(result))
  }
  const wrong = results.filter(({ ok }) => ok === false).length
  if (json) await printJson({ list: toListName(list), ok: wrong === 0, checks: results })
  if (wrong > 0) throw new Failure(`${toCount(wrong, 'check')} of ${results.length} found something wrong`)
}

function toLine({ check, ok, message }: CheckResult): string {
  return `${check.padEnd(14)} ${toState(ok)}: ${message}`
}

function toState(ok: CheckResult['ok']): string {
  if (ok === null) return 'not checked'
  return ok ? 'ok' : 'wrong'
}

async function* runChecks(list: ListUrl, cursorFile: string | undefined): AsyncGenerator<CheckResult> {
  // Read once, so that all checks are about the same settings.
  const reading = Promise.try(readConfig)
  const settings = await runCheck('settings', async () => `valid; BASE_URL is ${(await reading).baseUrl}`)
  yield settings
  if (settings.ok) {
    const config = await reading
    yield runCheck('site', () => checkSite(config))
    yield runCheck('service', () => checkService(list, config))
    yield runCheck('url', () => checkUrl(config))
  }
  yield runCheck('leftovers', () => checkLeftovers(list, cursorFile))
  const cursorFiles = cursorFile === undefined ? listHandOvers(list) : [cursorFile]
  yield* checkStore(
    list,
    cursorFiles.map((file) => (head, readWaiting) => checkCursorFile(file, head, readWaiting)),
  )
}

/** A host in a domain for examples (RFC 2606). */
const EXAMPLE = /(?:^|\.)example(?:\.(?:com|net|org))?$/

/** Looks for values that an owner forgets to change. @throws Failure */
function checkSite({ baseUrl, site, siteFile }: Config): string {
  const { hostname } = new URL(baseUrl)
  if (EXAMPLE.test(hostname)) throw new Failure(`${baseUrl} is an example: set BASE_URL to the URL of your page`)
  const isLocal = hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) > 0
  const file = siteFile?.path ?? 'site.yaml'
  const lacking = listLacking(site)
  const advice = lacking ? `; for a page that people trust, add ${lacking} to ${file}` : ''
  if (site.words.name !== undefined || isLocal) return `${site.name}, from ${siteFile?.path ?? 'the defaults'}${advice}`
  throw new Failure(`its name is "${site.name}", the default: set name in ${file}${advice}`)
}

/** Names what a reader looks for before typing an address, and does not find; empty if nothing is lacking. */
function listLacking({ words, contact, privacy }: Config['site']): string {
  const said = { name: words.name, description: words.description, contact, privacy }
  const lacking = Object.entries(said).filter(([, value]) => value === undefined)
  return new Intl.ListFormat('en').format(lacking.map(([key]) => key))
}

/** Asks the running service whether it works, and compares its settings with those of this command. @throws Failure */
async function checkService(list: ListUrl, { ops, baseUrl, siteFile }: Config): Promise<string> {
  if (!ops) throw new NotChecked('OPS_PORT is not set')
  const running: OpsOptions['settings'] = JSON.parse(await askService(ops, '/config', '{"base_url":'))
  if (running.version !== VERSION) {
    throw new Failure(
      `it runs version ${running.version}, and this is version ${VERSION}: restart the service, if its version is the older one`,
    )
  }
  const path = siteFile?.path ?? 'none'
  const settings = [
    ['BASE_URL', running.base_url, baseUrl],
    ['the list', running.list, toAbsoluteName(list)],
    ['the site file', running.site_file?.path ?? 'none', path],
  ]
  const differences = settings.filter(([, its, here]) => its !== here)
  if (differences.length > 0) {
    const found = differences.map(([name, its, here]) => `${name} ${its}, and not ${here}`).join('; and with ')
    throw new Failure(
      `it runs with ${found}: give this command the settings of the service, or restart the service to use the new ones`,
    )
  }
  if (running.site_file?.digest !== siteFile?.digest) {
    throw new Failure(`${path} has changed since the start: restart the service to use the new site file`)
  }
  await askService(ops, '/readyz', 'ok\n')
  return `it works, and runs with these settings; its version is ${VERSION}`
}

const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/

/** Asks whether the public URL leads to this service, through the proxy. It may not be reachable from here. @throws Failure */
async function checkUrl({ baseUrl }: Config): Promise<string> {
  if (LOCAL_ORIGIN.test(baseUrl)) throw new NotChecked(`${baseUrl} is for this machine only`)
  try {
    await expectAnswer(baseUrl + ENDPOINT.path, 405, '"method_not_allowed"')
    await expectAnswer(baseUrl + DOCUMENTS.openApiJson.path, 200, `"url":"${baseUrl}"`)
    return `${baseUrl} leads to this service`
  } catch (error) {
    if (error instanceof Failure) throw error
    const code = toErrorCode(error)
    if (/CERT|SSL|TLS|SIGNATURE/.test(code)) {
      throw new Failure(`${baseUrl}: its certificate is not valid (${code}): see the log of the proxy`)
    }
    throw new NotChecked(`${baseUrl} cannot be reached from this machine`)
  }
}

/** Sends a GET. @throws Failure when the answer has another status, or lacks a text that this service has there */
async function expectAnswer(url: string, status: number, text: string): Promise<void> {
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(HEALTH_DEADLINE_MS) })
  if (answer.status === status && (await answer.text()).includes(text)) return
  const location = answer.headers.get('Location')
  const found = location === null ? `${answer.status}` : `${answer.status} to ${location}`
  throw new Failure(
    `${url} does not lead to this service: ${found}: the proxy must pass every path of this host on, with its Host, and BASE_URL must be this host`,
  )
}

/**
 * Returns the file of a SQLite list, which may be missing; empty for PostgreSQL. What is beside a list is beside the file, and not beside a
 * link to it.
 */
function findListFile(list: ListUrl): string {
  if (list.kind !== 'sqlite') return ''
  const name = resolve(list.file)
  return existsSync(name) ? realpathSync(name) : name
}

/** Looks in the working folder, next to the cursor file and next to a SQLite list. @throws Failure */
async function checkLeftovers(list: ListUrl, cursorFile = ''): Promise<string> {
  const file = findListFile(list)
  const rescues = file ? await listRescues(file) : []
  if (rescues.length > 0) {
    throw new Failure(
      `${rescues.map(quotePath).join(' ')}: when the list was lost, this kept its addresses: restore or import it, if that is not done, and move it to another folder`,
    )
  }
  // The folder of an empty path is the working folder.
  const places = ['', cursorFile, file].map((path) => resolve(dirname(path)))
  const folders = [...new Set(places)]
  const found = (await Promise.all(folders.map((folder) => listLeftovers(folder)))).flat()
  const closed = folders.filter((folder) => existsSync(folder) && !isReadable(folder))
  const rest = closed.length > 0 ? `; not read, because this user may not: ${closed.join(' and ')}` : ''
  const read = folders.filter((folder) => !closed.includes(folder))
  if (found.length === 0) return `none in ${read.join(' and ')}${rest}`
  throw new Failure(`killed commands left files with addresses: run: rm ${found.map(quotePath).join(' ')}${rest}`)
}

function isReadableFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory() && isReadable(path)
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Finds the cursors of recipes, in the working folder and next to a SQLite list: those of NAME.json are in NAME.cursor. */
function listHandOvers(list: ListUrl): readonly string[] {
  const folders = new Set([resolve('.')])
  if (list.kind === 'sqlite') folders.add(dirname(findListFile(list)))
  const found = [...folders].filter(isReadableFolder).flatMap((folder) => {
    const files = [...new Bun.Glob('*.json').scanSync({ cwd: folder, absolute: true })]
    return files.map((file) => file.replace(/json$/, 'cursor')).filter((file) => existsSync(file))
  })
  return found.sort()
}

/** Says how many subscribers wait, and since when. @throws Failure when it is too long, or the cursor is not of this list */
async function checkCursorFile(file: string, head: ListHead, readWaiting: Parameters<CursorCheck>[1]): Promise<string> {
  const cursor = readCursor(file)
  if (!cursor) throw new Failure(`${file}: there is no such file; an export with it starts at the first subscriber`)
  const { seq } = checkCursor(head, cursor)
  return checkWaiting(`${file}: an export continues after ${seq}`, await readWaiting(seq))
}

/** `rollcall init`: asks five questions, and writes the settings and the site file. */

import { chmodSync, existsSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
// @ts-expect-error TypeScript knows no file without an extension.
import env from '../../deploy/env' with { type: 'text' }
import site from '../../deploy/site.yaml' with { type: 'text' }
import { parseBaseUrl, toLikelyOrigin } from '../config/config.ts'
import { DEFAULT_FILE } from '../config/environment.ts'
import { parseSite } from '../config/site-file.ts'
import { Failure, toErrorCode, UsageError } from '../failure.ts'
import { replaceFile } from '../files.ts'
import { createFolders } from '../owner.ts'
import { quotePath } from '../words.ts'
import { ask, note, print } from './output.ts'

const DEFAULT_URL = 'http://localhost:3000'

/** Each option with its question, and a preset: what Rollcall does without a line for it. */
const QUESTIONS = [
  // First what readers see: a page with the presets works, but says nothing about the newsletter.
  ['name', 'The name of the newsletter, such as The Gazette', 'Newsletter'],
  ['description', 'What readers get, such as One true story each Friday', 'none'],
  ['baseUrl', 'The URL of the page, such as https://list.example.org', DEFAULT_URL],
  ['contact', 'A contact for readers, such as editor@example.org', 'none'],
  ['languages', 'The languages of the page, such as en, de; the first one is the default', 'all'],
] as const

type Option = (typeof QUESTIONS)[number][0]

/** A line of a file. */
interface Line {
  /** The name of the file. */
  readonly file: string
  /** The key and the sign behind it, such as `PORT=` in the settings and `name:` in the site file. */
  readonly start: string
  /** What is behind them. */
  readonly rest: string
}

const SYSTEM = dirname(DEFAULT_FILE)
const STATE = '/var/lib/rollcall'

const SETTINGS_NAME = basename(DEFAULT_FILE)

/** The name of the site file, next to the settings. */
const SITE_NAME = 'site.yaml'

/** The files that init writes, in this order, and what is in each before it has the answers. */
const TEMPLATES: readonly (readonly [name: string, text: string])[] = [
  [SITE_NAME, site],
  [SETTINGS_NAME, env],
]

/** The ports of the first newsletter on a machine. */
const PORTS = { PORT: 3000, OPS_PORT: 9000 } as const

/** `rollcall init`: writes `env` and `site.yaml`. Replaces no file: it stops when one of them is there. */
export async function init(path: string, options: Answers): Promise<void> {
  const folder = resolve(path)
  const instance = toInstance(folder)
  checkNew(path)
  const answers = await completeAnswers(options)
  const listFolder = findListFolder(folder, instance)
  const taken = instance === undefined ? [] : listSystemPorts()
  const port = findPort(PORTS.PORT, taken)
  const opsPort = findPort(PORTS.OPS_PORT, taken)
  const lines = [
    toSetting('DATABASE_URL', `sqlite:${join(listFolder, 'rollcall.db')}`),
    toSetting('PORT', `${port}`),
    toSetting('OPS_PORT', `${opsPort}`),
    ...toAnswerLines(answers),
  ]
  // Nothing is written before all of it is known to be valid.
  createFolders(dirname(folder), 0o755)
  createFolders(folder, 0o750)
  await writeFiles(path, lines)
  const url = answers.baseUrl === DEFAULT_URL ? `http://localhost:${port}` : answers.baseUrl
  await print(createAdvice(url, port, folder, instance))
}

/** Checks that init replaces no file. @throws Failure */
function checkNew(path: string): void {
  const files = TEMPLATES.map(([name]) => join(path, name))
  const existing = files.find((file) => existsSync(file))
  if (existing !== undefined) {
    throw new Failure(`${existing} exists, and init replaces no file: edit it, or name another folder`)
  }
}

type Answers = Readonly<Partial<Record<Option, string>>>

/** Asks for what the options do not say, if somebody is there to answer. @throws UsageError when the URL or the name is missing */
async function completeAnswers(options: Answers): Promise<Answers & { readonly baseUrl: string }> {
  const answers: Partial<Record<Option, string>> = { ...options }
  if (process.stdin.isTTY) {
    for (const [option, question, preset] of QUESTIONS) {
      answers[option] ??= await askOption(option, question, preset)
    }
  }
  const { name, baseUrl } = answers
  if (!baseUrl || !name) throw new UsageError('without a terminal, --base-url and --name are needed')
  return { ...answers, baseUrl }
}

/** The folder of the list: that of the service, such as /var/lib/rollcall/NAME for a unit, or else the one of the files. @throws UsageError */
function findListFolder(folder: string, instance: string | undefined): string {
  const found = instance === undefined ? folder : join(STATE, instance.slice(1))
  // In the URL of the list, these signs have a meaning.
  if (/[?#%]/.test(found)) throw new UsageError(`${found}: use a folder without "?", "#" and "%" in its path`)
  return found
}

/** Converts the answers to lines. @throws UsageError for one that is not valid */
function toAnswerLines(answers: Answers): readonly Line[] {
  const lines: Line[] = []
  for (const [option, , preset] of QUESTIONS) {
    const answer = answers[option] ?? preset
    // For a preset, the file needs no line: Rollcall does it by itself.
    if (answer !== preset) lines.push(toLine(option, answer))
  }
  return lines
}

/** Writes each template with its lines. After an error, none of the files is left: the next `init` would refuse to replace it. */
async function writeFiles(path: string, lines: readonly Line[]): Promise<void> {
  try {
    for (const [name, template] of TEMPLATES) await writeTemplate(join(path, name), template, linesOf(name, lines))
  } catch (error) {
    for (const [name] of TEMPLATES) removeFile(join(path, name))
    throw error
  }
}

/** Removes a file, and no link of the owner. None was there before. */
function removeFile(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) rmSync(file)
}

const linesOf = (name: string, lines: readonly Line[]) => lines.filter(({ file }) => file === name)

async function writeTemplate(file: string, template: string, lines: readonly Line[]): Promise<void> {
  await replaceFile(file, lines.reduce(setLine, template))
  // As root, the file has the group of the folder: the service may read /etc/rollcall.
  chmodSync(file, 0o640)
}

/** The end of the name of a unit: empty, or `@NAME` for one more newsletter. Undefined for a folder of no unit. @throws UsageError */
function toInstance(folder: string): string | undefined {
  if (folder === SYSTEM) return ''
  if (dirname(folder) !== SYSTEM) return undefined
  const name = basename(folder)
  // The backups of rollcall.service are in a folder of that name.
  if (/^[\w.-]+$/.test(name) && name !== 'backups') return `@${name}`
  throw new UsageError(`${folder}: use a name of letters, digits, ".", "_" and "-", other than backups`)
}

/** A line of the settings. */
const toSetting = (key: string, value: string): Line => ({ file: SETTINGS_NAME, start: `${key}=`, rest: value })

/** Converts an answer to a line of a file. @throws UsageError */
function toLine(option: Option, answer: string): Line {
  if (option === 'baseUrl') return toSetting('BASE_URL', parseBaseUrl(answer))
  const contact = BARE_ADDRESS.test(answer) ? `mailto:${answer}` : answer
  const values = { name: answer, description: answer, contact, languages: answer.split(/[\s,]+/) }
  const start = `${option}:`
  // JSON is YAML, so that no sign in an answer has a meaning.
  const rest = ` ${JSON.stringify(values[option])}`
  // Says what is wrong with the answer.
  parseSite(start + rest, SITE_NAME)
  return { file: SITE_NAME, start, rest }
}

/** An address without a scheme before it. */
const BARE_ADDRESS = /^[^:]+@/

/** Replaces the line with the same key, or the comment with an example of it. Without one, an answer of the owner would be lost. */
function setLine(text: string, { start, rest }: Line): string {
  // `# PORT=3000` or `PORT=3000`.
  const example = new RegExp(`^(?:# )?${start}.*`, 'm')
  if (!example.test(text)) throw new Error(`a template of init has no line with ${start}`)
  // A function, because an answer may have a `$`, which means something in a replacement.
  return text.replace(example, () => start + rest)
}

/** Lists the ports in the settings below /etc/rollcall, also of services that do not run. */
function listSystemPorts(): readonly number[] {
  const files = existsSync(SYSTEM) ? [...new Bun.Glob('**/env').scanSync({ cwd: SYSTEM, absolute: true })] : []
  return files.flatMap((file) => {
    const { PORT, OPS_PORT } = parseEnv(readFileSync(file, 'utf8'))
    // An empty setting is not set.
    return [Number(PORT || PORTS.PORT), Number(OPS_PORT)]
  })
}

/** Finds a port that is free and not among these. */
function findPort(first: number, taken: readonly number[]): number {
  let port = first
  while (taken.includes(port) || !isFree(port)) port++
  return port
}

/** Whether no program uses a port of the loopback address, on which a service with the settings of `init` listens. */
function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return true
  } catch (error) {
    if (toErrorCode(error) === 'EADDRINUSE') return false
    throw error
  }
}

/** Asks until the answer is valid. Offers the preset, or the URL that was probably meant. */
async function askOption(option: Option, question: string, preset: string): Promise<string> {
  let offer = preset
  while (true) {
    const answer = (await ask(`${question} [${offer}]:`, 'stopped: nothing is written')) || offer
    try {
      if (answer !== preset) toLine(option, answer)
      return answer
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      // An answer is in no file yet, so the place in it says nothing.
      note(error.message.replace(`${SITE_NAME}:1: `, ''))
      offer = (option === 'baseUrl' && toLikelyOrigin(answer)) || preset
    }
  }
}

/** Says what comes next. */
function createAdvice(url: string, port: number, folder: string, instance?: string): string {
  const { protocol, host, hostname } = new URL(url)
  const start =
    instance === undefined
      ? `ENV_FILE=${quotePath(join(folder, 'env'))} rollcall serve`
      : `sudo systemctl enable --now rollcall${instance} rollcall-backup${instance}.timer`
  const license = `The page says that its content has the license CC BY-SA 4.0. If that is not so: license: none, in ${quotePath(join(folder, 'site.yaml'))}.`
  const proxies = protocol === 'https:' ? `${createProxyAdvice(host, hostname, port, instance)}\n\n` : ''
  return `To start the service at ${url}:\n  ${start}\n\n${proxies}${license}`
}

/** The lines for a proxy, which a URL without TLS does not need. */
function createProxyAdvice(host: string, hostname: string, port: number, instance = ''): string {
  const other = port === PORTS.PORT ? '' : ` In them, write ${port} for the port ${PORTS.PORT}.`
  return `Caddy handles TLS with these lines in /etc/caddy/Caddyfile:
  ${host} {
    reverse_proxy 127.0.0.1:${port}
  }

nginx with these in /etc/nginx/conf.d/rollcall${instance}.conf, and then \`sudo certbot --nginx --domain ${hostname}\`:
  server {
    listen 80;
    server_name ${hostname};
    location / { proxy_pass http://127.0.0.1:${port}; proxy_set_header Host $host; }
  }

The nginx.conf and haproxy.cfg that come with Rollcall also limit requests.${other}`
}

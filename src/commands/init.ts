/** `rollcall init`: asks four questions, and writes the settings and the site file. */

import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
// @ts-expect-error TypeScript knows no file without an extension.
import env from '../../deploy/env' with { type: 'text' }
import site from '../../deploy/site.yaml' with { type: 'text' }
import { parseBaseUrl, toLikelyOrigin } from '../config/config.ts'
import { DEFAULT_FILE } from '../config/environment.ts'
import { parseSite } from '../config/site-file.ts'
import { Failure, quotePath, UsageError } from '../failure.ts'
import { writeOutput } from '../files.ts'
import { note, print } from './output.ts'
import { askPerson } from './terminal.ts'

/** Each option with its question, and a preset: what Rollcall does without a line for it. */
const QUESTIONS = [
  ['baseUrl', 'The address of the page, such as https://list.example.org', 'http://localhost:3000'],
  ['name', 'The name of the newsletter, such as The Gazette', 'Newsletter'],
  ['contact', 'A contact for readers, such as editor@example.org', 'none'],
  ['languages', 'The languages of the page, such as en, de; the first one is the default', 'all'],
] as const

type Option = (typeof QUESTIONS)[number][0]
type Answers = Readonly<Partial<Record<Option, string>>>

/** A line of a file: its key with the sign behind it, such as `PORT=` or `name:`, and the rest. */
interface Line {
  readonly key: string
  readonly rest: string
}

/** Converts an answer to a line of a file. @throws UsageError */
function toLine(option: Option, answer: string): Line {
  if (option === 'baseUrl') return { key: 'BASE_URL=', rest: parseBaseUrl(answer) }
  const contact = answer.replace(/^(?=[^:]+@)/, 'mailto:')
  const value = { name: answer, contact, languages: answer.split(/[\s,]+/) }[option]
  const line = { key: `${option}:`, rest: ` ${JSON.stringify(value)}` }
  parseSite(line.key + line.rest, 'site.yaml')
  return line
}

/** Where the files go, and who runs the service. */
interface Place {
  readonly folder: string
  /** The path of the SQLite list. */
  readonly list: string
  /** What a unit has behind its name: nothing for rollcall.service, `@NAME` for one more newsletter; undefined without systemd. */
  readonly instance: string | undefined
}

const SYSTEM = dirname(DEFAULT_FILE)
const STATE = '/var/lib/rollcall'

/** @throws UsageError for a folder of one more newsletter with a name that its unit cannot have */
function toPlace(path: string): Place {
  const folder = resolve(path)
  if (folder === SYSTEM) return { folder, list: `${STATE}/rollcall.db`, instance: '' }
  if (dirname(folder) !== SYSTEM) return { folder, list: join(folder, 'rollcall.db'), instance: undefined }
  const name = basename(folder)
  // The backups of rollcall.service are in a folder of that name.
  if (/^[\w.-]+$/.test(name) && name !== 'backups')
    return { folder, list: `${STATE}/${name}/rollcall.db`, instance: `@${name}` }
  throw new UsageError(`${folder}: use a name of letters, digits, ".", "_" and "-", other than backups`)
}

/** Writes `env` and `site.yaml`. Replaces no file, except those of the package, while they have no answers. */
export async function init(path: string, options: Answers): Promise<void> {
  const place = toPlace(path)
  const files = Object.entries<string>({ 'site.yaml': site, env }).map(
    ([name, text]) => [join(path, name), text] as const,
  )
  const changed = files.find(([file, text]) => existsSync(file) && readFileSync(file, 'utf8') !== text)
  if (changed) throw new Failure(`${changed[0]} exists, and init replaces no file: edit it, or name another folder`)
  const answers = process.stdin.isTTY ? await ask(options) : options
  if (!answers.baseUrl || !answers.name) throw new UsageError('without a terminal, --base-url and --name are needed')
  const ports = await findPorts(place)
  const lines = [
    { key: 'DATABASE_URL=', rest: `sqlite:${pathToFileURL(place.list).pathname}` },
    ...(ports.port === PORTS.port ? [] : [{ key: 'PORT=', rest: `${ports.port}` }]),
    { key: 'OPS_PORT=', rest: `${ports.opsPort}` },
    ...QUESTIONS.flatMap(([option, , preset]) => {
      const { [option]: answer = preset } = answers
      return answer === preset ? [] : [toLine(option, answer)]
    }),
  ]
  prepareFolder(place)
  for (const [file, text] of files) {
    await writeOutput(file, (write) => write(lines.reduce(setLine, text)), { isShared: true })
  }
  const isPreset = answers.baseUrl === QUESTIONS[0][2]
  await print(createAdvice(isPreset ? `http://localhost:${ports.port}` : answers.baseUrl, ports.port, place))
}

/** Replaces the line with the same key, or the comment with an example of it. */
function setLine(text: string, { key, rest }: Line): string {
  return text.replace(new RegExp(`^(?:# )?${key}.*`, 'm'), () => key + rest)
}

/** Creates a missing folder. As root, lets the group of the service read it, or whoever may read the folder around it. */
function prepareFolder({ folder, instance }: Place): void {
  mkdirSync(dirname(folder), { recursive: true })
  const isNew = !existsSync(folder)
  if (isNew) mkdirSync(folder, { mode: 0o750 })
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(isNew ? dirname(folder) : folder)
  chownSync(folder, uid, instance === undefined ? gid : (readServiceGroup() ?? gid))
}

/** The number of the group `rollcall`; undefined while the user of the service does not exist. */
function readServiceGroup(): number | undefined {
  const [, number] = /^rollcall:[^:]*:(\d+):/m.exec(readFileSync('/etc/group', 'utf8')) ?? []
  return number === undefined ? undefined : Number(number)
}

/** The ports of the first newsletter on a machine. */
const PORTS = { port: 3000, opsPort: 9000 } as const

/** Finds ports that are free, and that no other newsletter of this machine has in its settings. */
async function findPorts({ folder, instance }: Place): Promise<{ readonly port: number; readonly opsPort: number }> {
  const taken = new Set(instance === undefined ? [] : listSystemPorts(folder))
  const find = async (port: number): Promise<number> =>
    taken.has(port) || !(await isFree(port)) ? find(port + 1) : port
  return { port: await find(PORTS.port), opsPort: await find(PORTS.opsPort) }
}

/** Lists the ports in the settings below /etc/rollcall, also of services that do not run. @param except the folder of one */
function listSystemPorts(except: string): readonly number[] {
  const folders = existsSync(SYSTEM) ? [SYSTEM, ...readdirSync(SYSTEM).map((name) => join(SYSTEM, name))] : []
  const files = folders.filter((folder) => folder !== except).map((folder) => join(folder, 'env'))
  return files.filter(existsSync).flatMap((file) => {
    const { PORT, OPS_PORT } = parseEnv(readFileSync(file, 'utf8'))
    return [Number(PORT || PORTS.port), Number(OPS_PORT)]
  })
}

/** Whether a service could listen on a port of this machine. */
function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}

/** Asks for what the options do not answer, until the answer is valid. */
function ask(options: Answers): Promise<Answers> {
  return askPerson('stopped: nothing is written', async (askOne) => {
    const answers: Partial<Record<Option, string>> = { ...options }
    for (const [option, text, preset] of QUESTIONS) {
      let offer: string = preset
      while (answers[option] === undefined) {
        const typed = await askOne(`${text} [${offer}]:`)
        const answer = typed === '' || (offer !== preset && /^y(?:es)?$/i.test(typed)) ? offer : typed
        try {
          if (answer !== preset) toLine(option, answer)
          answers[option] = answer
        } catch (error) {
          if (!(error instanceof UsageError)) throw error
          const likely = option === 'baseUrl' ? toLikelyOrigin(answer) : undefined
          offer = likely ?? preset
          note(
            likely
              ? `Do you mean ${likely}? Press Enter, or type another one.`
              : error.message.replace('site.yaml:1: ', ''),
          )
        }
      }
    }
    return answers
  })
}

/** Says what comes next. */
function createAdvice(url: string, port: number, { folder, instance }: Place): string {
  const { host } = new URL(url)
  const start =
    instance === undefined
      ? `ENV_FILE=${quotePath(join(folder, 'env'))} rollcall serve`
      : `sudo systemctl enable --now rollcall${instance} rollcall-backup${instance}.timer`
  const other = port === PORTS.port ? '' : ` In them, write ${port} for the port ${PORTS.port}.`
  return `To start the service at ${url}:
  ${start}

Caddy handles TLS with these lines in /etc/caddy/Caddyfile:
  ${host} {
    reverse_proxy 127.0.0.1:${port}
  }

nginx with these in /etc/nginx/conf.d/rollcall${instance ?? ''}.conf, and then \`sudo certbot --nginx --domain ${host}\`:
  server {
    listen 80;
    server_name ${host};
    location / { proxy_pass http://127.0.0.1:${port}; proxy_set_header Host $host; }
  }

The nginx.conf and haproxy.cfg that come with Rollcall also limit requests.${other}`
}

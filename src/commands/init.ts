/** `rollcall init`: asks four questions, and writes the settings and the site file. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { pathToFileURL } from 'node:url'
// @ts-expect-error TypeScript knows no file without an extension.
import env from '../../deploy/env' with { type: 'text' }
import site from '../../deploy/site.yaml' with { type: 'text' }
import { parseBaseUrl } from '../config/config.ts'
import { DEFAULT_FILE } from '../config/environment.ts'
import { parseSite } from '../config/site-file.ts'
import { Failure, toFileFailure, toSignalExitCode, UsageError } from '../failure.ts'
import { note, print } from './output.ts'

/** The preset is what Rollcall does without the line, so it changes nothing. `toLine` throws a UsageError. */
type Question = readonly [option: string, text: string, preset: string, toLine: (answer: string) => string]

const QUESTIONS: readonly Question[] = [
  ['baseUrl', 'The address of the page, such as https://list.example.org', 'http://localhost:3000', toBaseUrl],
  ['name', 'The name of the newsletter, such as The Gazette', 'Newsletter', (name) => toSiteLine('name', name)],
  ['contact', 'A contact for readers, such as editor@example.org', 'none', toContact],
  ['languages', 'The languages of the page, such as en, de; the first one is the default', 'all', toLanguages],
]

function toBaseUrl(origin: string): string {
  return `BASE_URL=${parseBaseUrl(origin)}`
}

function toContact(contact: string): string {
  return toSiteLine('contact', contact.replace(/^(?=[^:]+@)/, 'mailto:'))
}

function toLanguages(tags: string): string {
  return toSiteLine('languages', tags.split(/[\s,]+/))
}

function toSiteLine(key: string, value: string | readonly string[]): string {
  const line = `${key}: ${JSON.stringify(value)}`
  parseSite(line, 'site.yaml')
  return line
}

/** Writes `env` and `site.yaml`. Replaces no file, except those of the package, while they have no answers. */
export async function init(folder: string, options: Readonly<Record<string, string>>): Promise<void> {
  const isSystem = resolve(folder, 'env') === DEFAULT_FILE
  const list = pathToFileURL(resolve(folder, 'rollcall.db')).pathname
  const templates = { env: isSystem ? env : env.replace(/(?<=^DATABASE_URL=sqlite:).*/m, list), 'site.yaml': site }
  const files = Object.entries<string>(templates).map(([name, text]) => ({ path: join(folder, name), text }))
  try {
    const changed = files.find(({ path, text }) => existsSync(path) && readFileSync(path, 'utf8') !== text)
    if (changed) throw new Failure(`${changed.path} exists, and init replaces no file: edit it, or name another folder`)
    const answers = process.stdin.isTTY ? await ask(options) : options
    if (!answers.baseUrl || !answers.name) throw new UsageError('without a terminal, --base-url and --name are needed')
    const lines = QUESTIONS.flatMap(([option, , preset, toLine]) => {
      const { [option]: answer = preset } = answers
      return answer === preset ? [] : [toLine(answer)]
    })
    mkdirSync(folder, { recursive: true })
    for (const { path, text } of files) writeFileSync(path, lines.reduce(setLine, text))
    await print(createAdvice(isSystem ? undefined : resolve(folder), answers.baseUrl))
  } catch (error) {
    throw toFileFailure(error, folder)
  }
}

/** Replaces the line with the same key, or the comment with an example of it. */
function setLine(text: string, line: string): string {
  return text.replace(new RegExp(`^(?:# )?${/^\w+./.exec(line)}.*`, 'm'), () => line)
}

/** Asks for what the options do not answer, until the answer is valid. */
async function ask(options: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const answers = { ...options }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D close the terminal.
  const stop = () => {
    note('\nstopped: nothing is written')
    process.exit(toSignalExitCode('SIGINT'))
  }
  terminal.once('close', stop)
  for (const [option, text, preset, toLine] of QUESTIONS) {
    while (answers[option] === undefined) {
      const answer = (await terminal.question(`${text} [${preset}]: `)).trim() || preset
      try {
        if (answer !== preset) toLine(answer)
        answers[option] = answer
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        note(error.message.replace('site.yaml:1: ', ''))
      }
    }
  }
  terminal.off('close', stop).close()
  return answers
}

/** Says what comes next. @param folder of the files; undefined for that of the systemd unit */
function createAdvice(folder: string | undefined, url: string): string {
  const start = folder
    ? `ENV_FILE='${folder}/env' rollcall serve`
    : 'sudo systemctl enable --now rollcall rollcall-backup.timer'
  const { host } = new URL(url)
  return `The settings are in ${folder ?? '/etc/rollcall'}. To start the service at ${url}:

  ${start}

Caddy handles TLS with these lines in /etc/caddy/Caddyfile:

  ${host}
  reverse_proxy 127.0.0.1:3000

nginx with these in /etc/nginx/conf.d/rollcall.conf, and then \`sudo certbot --nginx --domain ${host}\`:

  server {
    listen 80;
    server_name ${host};
    location / { proxy_pass http://127.0.0.1:3000; proxy_set_header Host $host; }
  }

The nginx.conf and haproxy.cfg that come with Rollcall also limit requests.`
}

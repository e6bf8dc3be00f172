/** `rollcall init`: asks four questions, and writes the settings and the site file. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
// @ts-expect-error TypeScript knows no file without an extension.
import env from '../../deploy/env' with { type: 'text' }
import site from '../../deploy/site.yaml' with { type: 'text' }
import { parseBaseUrl } from '../config/config.ts'
import { DEFAULT_FILE } from '../config/environment.ts'
import { parseSite } from '../config/site-file.ts'
import { Failure, UsageError } from '../failure.ts'
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

/** Converts an answer to a line of a file. @throws UsageError */
function toLine(option: Option, answer: string): string {
  if (option === 'baseUrl') return `BASE_URL=${parseBaseUrl(answer)}`
  const contact = answer.replace(/^(?=[^:]+@)/, 'mailto:')
  const line = `${option}: ${JSON.stringify({ name: answer, contact, languages: answer.split(/[\s,]+/) }[option])}`
  parseSite(line, 'site.yaml')
  return line
}

/** Writes `env` and `site.yaml`. Replaces no file, except those of the package, while they have no answers. */
export async function init(folder: string, options: Answers): Promise<void> {
  const isSystem = resolve(folder, 'env') === DEFAULT_FILE
  const list = pathToFileURL(resolve(folder, 'rollcall.db')).pathname
  const templates = { env: isSystem ? env : env.replace(/(?<=^DATABASE_URL=sqlite:).*/m, list), 'site.yaml': site }
  const files = Object.entries<string>(templates).map(([name, text]) => ({ path: join(folder, name), text }))
  const changed = files.find(({ path, text }) => existsSync(path) && readFileSync(path, 'utf8') !== text)
  if (changed) throw new Failure(`${changed.path} exists, and init replaces no file: edit it, or name another folder`)
  const answers = process.stdin.isTTY ? await ask(options) : options
  if (!answers.baseUrl || !answers.name) throw new UsageError('without a terminal, --base-url and --name are needed')
  const lines = QUESTIONS.flatMap(([option, , preset]) => {
    const { [option]: answer = preset } = answers
    return answer === preset ? [] : [toLine(option, answer)]
  })
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of files) writeFileSync(path, lines.reduce(setLine, text))
  await print(createAdvice(answers.baseUrl, isSystem ? undefined : resolve(folder)))
}

/** Replaces the line with the same key, or the comment with an example of it. */
function setLine(text: string, line: string): string {
  return text.replace(new RegExp(`^(?:# )?${/^\w+./.exec(line)}.*`, 'm'), () => line)
}

/** Asks for what the options do not answer, until the answer is valid. */
function ask(options: Answers): Promise<Answers> {
  return askPerson('stopped: nothing is written', async (askOne) => {
    const answers: Partial<Record<Option, string>> = { ...options }
    for (const [option, text, preset] of QUESTIONS) {
      while (answers[option] === undefined) {
        const answer = (await askOne(`${text} [${preset}]:`)) || preset
        try {
          if (answer !== preset) toLine(option, answer)
          answers[option] = answer
        } catch (error) {
          if (!(error instanceof UsageError)) throw error
          note(error.message.replace('site.yaml:1: ', ''))
        }
      }
    }
    return answers
  })
}

/** Says what comes next. @param folder of the files; undefined for that of the systemd unit */
function createAdvice(url: string, folder: string | undefined): string {
  const { host } = new URL(url)
  return `To start the service at ${url}:
  ${folder ? `ENV_FILE='${folder}/env' rollcall serve` : 'sudo systemctl enable --now rollcall rollcall-backup.timer'}

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

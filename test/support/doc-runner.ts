/** Runs the blocks of a Markdown file in order, in a folder that looks like a checkout with an empty list. */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Block } from './markdown.ts'
import { CLI, ROOT, toSupportFile } from './paths.ts'
import { getServer } from './postgres.ts'
import { createFolder } from './service.ts'
import { until } from './wait.ts'

export interface DocRunner {
  /** Runs a block. @throws when it fails, or when there is no runner for its language */
  run(block: Pick<Block, 'language' | 'name' | 'text'>): Promise<void>
  /** Ends what still runs and removes the folder. */
  close(): Promise<void>
}

/** What a block sees of the repository. Everything else in its folder is its own. */
const CHECKOUT = ['bench', 'deploy', 'node_modules', 'package.json', 'package-lock.json', 'src']

/**
 * Programs that are replaced. All others are the real ones, `npm start` included.
 *
 *   npx rollcall   runs the same file without npm, which takes a second; blocks.test.ts runs it once with npm
 *   npm ci         only checks that there is a lock file: .ci/run installs
 *   npm test, run  only check that the script exists; `npm run bench` also checks its options
 *   curl           shows no progress, as on a terminal; a machine that has none gets support/curl.ts
 *   sudo           runs the command as it is; `/etc` is a folder of the test
 *   systemctl      checks that the unit is there
 *   send-welcome   the reader's program: appends what it reads to the file `welcomed`
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  'bin/npx': `[ "$1" = rollcall ]; shift; exec bun ${CLI} "$@"`,
  'bin/npm': `
    case $1 in
      start) PATH=\${PATH#*:} exec npm "$@" ;;
      ci) [ "\${2-}" != --prefix ] || cd "$3"; exec test -f package-lock.json ;;
      run) shift ;;
    esac
    bun -e 'process.exit(process.argv[1] in require("./package.json").scripts ? 0 : 1)' "$1"
    [ "$1" != bench ] || { shift; [ "\${1-}" != -- ] || shift; bun bench/run.ts "$@" --help > /dev/null; }`,
  'bin/curl': `
    PATH=\${PATH#*:}
    if command -v curl > /dev/null; then exec curl --silent --show-error "$@"; fi
    exec bun ${toSupportFile('curl.ts')} "$@"`,
  'bin/sudo': 'exec "$@"',
  'bin/systemctl': 'for unit; do :; done; exec test -f "etc/systemd/system/$unit.service"',
  'send-welcome': 'exec cat >> welcomed',
}

/** The service takes any free port, so the documented ports and hosts are replaced where a block calls it. */
const SETTINGS = { HOST: '127.0.0.1', PORT: '0', BASE_URL: 'http://localhost:3000' }
const ORIGINS = /http:\/\/localhost:3000|https:\/\/list\.example\.org/g
const OPS_ORIGIN = 'http://localhost:9090'
const OPS_PORT = 'OPS_PORT=9090'
const POSTGRES_URL = 'postgres://rollcall:PASSWORD@db.example.org/rollcall?sslmode=verify-full'

/** Blocks that go on until they are stopped. */
const SERVICE = /\bnpm start\b/
const FOLLOWER = /--follow\b/

/** The line of the log with the ports of a service. */
const LISTENING = /^.*"listening on .*(?=\n)/m

/** Creates the runner of a file. */
export async function createDocRunner(): Promise<DocRunner> {
  const folder = await createFolder()
  await prepareFolder(folder)
  const path = [join(folder, 'bin'), join(ROOT, 'node_modules/.bin'), process.env.PATH].join(':')
  const environment = { PATH: path, HOME: process.env.HOME ?? '/', ...SETTINGS }
  const shells: Shell[] = []
  const write = async (text: string, name: string) => writeFileSync(join(folder, name), text)
  const getPostgresUrl = once(async () => (await getServer()).createUrl())
  let service: { readonly shell: Shell; readonly port: number; readonly opsPort?: number } | undefined
  let output = { stdout: '', stderr: '' }

  function start(text: string): Shell {
    const shell = startShell(text, folder, environment)
    shells.push(shell)
    return shell
  }

  async function serve(text: string): Promise<void> {
    await service?.shell.stop()
    const shell = start(text.replace(OPS_PORT, 'OPS_PORT=0'))
    await shell.until(({ stderr }) => LISTENING.test(stderr))
    service = { shell, ...JSON.parse(LISTENING.exec(shell.output.stderr)?.[0] ?? '') }
  }

  /** Puts the service of the test where the documentation has that of the reader; starts it if none runs. */
  async function callService(text: string): Promise<string> {
    if (!service && text.search(ORIGINS) >= 0) await serve('exec npx rollcall serve')
    const { port, opsPort } = service ?? {}
    return text.replace(ORIGINS, `http://localhost:${port}`).replaceAll(OPS_ORIGIN, `http://localhost:${opsPort}`)
  }

  /** Runs a command that stays, adds a subscriber, and waits until the reader's program has the address. */
  async function follow(text: string): Promise<void> {
    const shell = start(text)
    const email = 'new.subscriber@rollcall.dev'
    await start(`echo ${email} | npx rollcall import -`).end()
    const isWelcomed = () => readFileSync(join(folder, 'welcomed'), 'utf8').includes(email)
    await shell.until(isWelcomed)
    await shell.stop()
    await start(`npx rollcall remove --forget ${email}`).end()
  }

  const runners: Readonly<Record<string, (text: string, name: string) => Promise<void>>> = {
    async sh(text, name) {
      if (name) writeFileSync(join(folder, name), text)
      else if (SERVICE.test(text)) await serve(text)
      else if (FOLLOWER.test(text)) await follow(text)
      else output = await start(await callService(text)).end()
    },
    json: async (text) => expectSame(JSON.parse(output.stdout), JSON.parse(text)),
    text: async (text) => expectSame((output.stdout + output.stderr).replaceAll('\r\n', '\n'), text),
    csv: write,
    async yaml(text, name) {
      await write(text, name)
      await start(`SITE_FILE=${name} bun ${join(ROOT, 'build/openapi.ts')}`).end()
    },
    async js(text) {
      await write(await callService(text), 'block.mjs')
      await start('bun block.mjs').end()
    },
    html: async (text) => sendForm(await callService(text)),
  }

  return {
    async run({ language, name, text }) {
      const run = runners[language]
      if (run === undefined) throw new Error(`there is no runner for the language "${language}"`)
      const local = text.replaceAll(' /etc/', ' etc/')
      const url = local.includes(POSTGRES_URL) ? await getPostgresUrl() : ''
      await run(local.replaceAll(POSTGRES_URL, url), name)
    },
    async close() {
      await Promise.all(shells.map((shell) => shell.stop()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function prepareFolder(folder: string): Promise<void> {
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name))
  for (const name of ['bin', 'etc/systemd/system']) mkdirSync(join(folder, name), { recursive: true })
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nset -eu\n${script}\n`, { mode: 0o755 })
  }
  writeFileSync(join(folder, 'welcomed'), '')
  await openSqliteStore(join(folder, 'data/rollcall.db')).close()
}

/** Sends a form as a browser does. @throws unless the response is the page of a success */
async function sendForm(markup: string): Promise<void> {
  const form = { action: '', method: '' }
  const body = new URLSearchParams()
  new HTMLRewriter()
    .on('form', {
      element(element) {
        form.action = element.getAttribute('action') ?? ''
        form.method = element.getAttribute('method') ?? 'get'
      },
    })
    .on('input', {
      element: (element) => body.append(element.getAttribute('name') ?? '', 'name@example.org'),
    })
    .transform(markup)
  const response = await fetch(form.action, { method: form.method, body, redirect: 'manual' })
  expectSame(
    [response.status, (await response.text()).includes('id="address" dir="ltr">name@example.org<')],
    [200, true],
  )
}

function expectSame(actual: unknown, documented: unknown): void {
  if (Bun.deepEquals(actual, documented, true)) return
  throw new Error(`it is:\n${toText(actual)}\ndocumented is:\n${toText(documented)}`)
}

const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined
  return () => (created ??= create())
}

interface Output {
  readonly stdout: string
  readonly stderr: string
}

/** A shell with a process group of its own. */
interface Shell {
  readonly output: Output
  /** Waits for the end. @throws with all of its output when the exit code is not 0 */
  end(): Promise<Output>
  /** Waits until a condition holds. @throws when it does not, or when the process ends before */
  until(condition: (output: Output) => boolean): Promise<void>
  /** Sends SIGTERM to the group, as a terminal would, and waits for the end. */
  stop(): Promise<void>
}

const running = new Set<number>()

// A test that reaches its time limit leaves its shells behind.
process.once('exit', () => {
  for (const pid of running) process.kill(-pid, 'SIGKILL')
})

/** Starts bash on a text. A failed command ends it, in the middle of a pipe too. */
function startShell(text: string, folder: string, env: Readonly<Record<string, string>>): Shell {
  const args = ['-eu', '-o', 'pipefail', '-c', text]
  const child = spawn('bash', args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      output[stream] += chunk
    })
  }
  const pid = child.pid ?? 0
  running.add(pid)
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() =>
    running.delete(pid),
  )
  const check = (code: number | null) => {
    if (code !== 0) throw new Error(`exit code ${code}:\n${output.stdout}${output.stderr}`)
    return output
  }
  return {
    output,
    end: () => closed.then(check),
    async until(condition) {
      const holds = () => condition(output)
      await until(() => holds() || !running.has(pid), String(condition))
      if (!holds()) throw new Error(`the command ended:\n${output.stdout}${output.stderr}`)
    },
    async stop() {
      if (running.has(pid)) process.kill(-pid, 'SIGTERM')
      await closed
    },
  }
}

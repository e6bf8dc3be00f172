/**
 * Every block of code in the README, in CONTRIBUTING and in docs/ is run, except for those of RUN_ELSEWHERE, most of which need
 * another program. A block without a runner fails.
 *
 * The blocks of a file run in order, in one folder, which looks like a checkout with an empty list: paths of a server become those
 * of the checkout, and `sudo` runs a command as the same user. test/runners/guides.ts runs them on a server. By the first word of
 * the info string:
 *
 *   sh     is run by bash; a failed command fails. `npm start` leaves the service running for the blocks that follow.
 *          With a name, it is a script that is kept under that name; `exit-1` is no name: the command ends with that code
 *   json   equals the standard output of the sh block before it
 *   text   equals the standard output, then the standard error, of the sh block before it; `…` is any text of a line or,
 *          as a line, any lines
 *   yaml   is a valid site file. It is kept under the name that follows the language
 *   csv    is kept under the name that follows the language
 *   html   is a form, which is sent without its script. test/page/owner.test.ts runs the script, in a browser
 */

import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Block, MARKDOWN_FILES, readBlocks } from '../support/markdown.ts'
import { expectOutput } from '../support/output.ts'
import { ROOT } from '../support/paths.ts'
import { getServer } from '../support/postgres.ts'
import { PROGRAM } from '../support/program.ts'
import { NO_ENV_FILE, type RunningService, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder } from '../support/workspace.ts'

/** Blocks that are not run here, by their language and name. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // architecture.test.ts. The tables are those of the schema.
  'ARCHITECTURE.md': ['text flow', 'text address', 'text map', 'text imports', 'text tables'],
  // A drawing.
  'README.md': ['text round-trip'],
  'docs/import.md': ['text row'],
  // They are for a server, and test/runners/guides.ts runs them.
  'docs/postgres.md': ['sh move', 'sh moved'],
  'docs/backup.md': [
    // test/runners/restic.ts runs them.
    ...['sh restic-init.sh', 'sh restic.sh'],
    // Nobody runs them, and the guide says so.
    ...['yaml litestream.yml', 'sh litestream.sh'],
    // test/commands/restored-list.test.ts runs it.
    'sh since',
    // test/runners/guides.ts runs it.
    'sh put-back',
    // test/runners/deb.ts runs it.
    'sh newest',
  ],
  'docs/operations.md': [
    // test/runners/guides.ts gives it to Prometheus.
    'yaml prometheus.yml',
    // test/upgrade runs these.
    ...['sh roll-back-1', 'sh roll-back-sqlite', 'sh roll-back-postgres', 'sh roll-back-2'],
    // test/runners/guides.ts runs these.
    'sh second',
    'sh rules',
    'sh try',
    'sh cron',
    'sh old-server',
    'sh new-server',
  ],
  // test/runners/guides.ts follows the guide, with a package that it builds itself, and without scp.
  'docs/start.md': [
    ...[
      'sh name',
      'sh package',
      'sh install',
      'text start',
      'sh caddy',
      'sh look',
      'sh backup',
      'sh nginx',
      'sh flood',
    ],
  ],
  // test/runners/containers.ts lives with the image, and looks for the lines of a start.
  'docs/containers.md': [
    'text start',
    ...['sh env', 'sh up', 'sh count', 'sh run', 'sh site', 'sh forget', 'sh import', 'sh export', 'sh backup'],
    ...['sh restore', 'sh upgrade', 'sh second', 'sh podman'],
    // Nobody runs these yet, and the guide says so.
    ...['sh postgres', 'sh postgres-move', 'sh postgres-backup', 'sh postgres-restore'],
  ],
  // test/runners/guides.ts follows these on a server, and test/recipes runs the commands of an owner.
  'docs/hand-over.md': [
    ...['sh unit', 'ini export.conf', 'sh recipe', 'sh notify', 'sh subscribe-all'],
    ...['json members.json', 'sh members', 'sh all-gone', 'json line', 'sh welcome'],
  ],
  // test/runners/deb.ts runs it.
  'docs/troubleshooting.md': ['sh larger'],
  // test/runners/guides.ts follows these. Nobody runs Traefik, and the guide says so.
  'docs/deploy.md': ['sh install', 'sh command', 'sh haproxy', 'yaml traefik'],
}

/** What a block sees of the repository. Everything else in its folder is its own. */
const CHECKOUT = ['bench', 'deploy', 'node_modules', 'package.json', 'package-lock.json', 'src']

/**
 * Programs that are replaced. All others are the real ones, `npm start` included.
 *
 *   rollcall       runs the executable of the sources
 *   sudo           runs a command as the same user
 *   npx bun        runs in the checkout, which has the tests
 *   npm ci         only checks that there is a lock file: .ci/run installs
 *   npm test, run  only check that the script exists; `npm run bench` also checks its options
 *   curl           shows no progress, as on a terminal; a machine that has none gets curl.ts
 *   send-welcome   the reader's program: appends what it reads to the file `welcomed`
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  'bin/npx': `
    [ "$1" = bun ] || exit 1
    cd ${ROOT}; exec "$@"`,
  'bin/rollcall': `exec ${PROGRAM} "$@"`,
  'bin/sudo': 'exec "$@"',
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
    exec bun ${import.meta.dir}/curl.ts "$@"`,
  'send-welcome': 'exec cat >> welcomed',
}

/** The service takes any free port, so the documented ports and hosts are replaced where a block calls it. */
const BASE_URL = 'http://localhost:3000'
const ORIGINS = /http:\/\/localhost:3000|https:\/\/list\.example\.org/g
const POSTGRES_URL = 'postgres://rollcall:PASSWORD@db.example.org/rollcall?sslmode=verify-full'

async function createRunner() {
  const folder = await createFolder()
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name))
  mkdirSync(join(folder, 'bin'))
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nset -eu\n${script}\n`, { mode: 0o755 })
  }
  writeFileSync(join(folder, 'welcomed'), '')
  await openSqliteStore(join(folder, 'data/rollcall.db'), { access: 'create' }).close()

  const path = [join(folder, 'bin'), join(ROOT, 'node_modules/.bin'), process.env.PATH].join(':')
  const env = { PATH: path, HOME: process.env.HOME ?? '/', HOST: '127.0.0.1', PORT: '0', BASE_URL, ...NO_ENV_FILE }
  const toCommand = (text: string) => ['bash', '-eu', '-o', 'pipefail', '-c', text]
  const write = (text: string, name: string) => writeFileSync(join(folder, name), text)
  let service: RunningService | undefined
  let output = { stdout: '', stderr: '' }

  const spawn = (text: string) =>
    Bun.spawn(toCommand(text), { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })

  async function shell(text: string, expected = 0) {
    const child = spawn(text)
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== expected) throw new Error(`exit code ${code}:\n${stdout}${stderr}`)
    return { stdout, stderr }
  }

  async function serve(text: string): Promise<void> {
    await service?.stop()
    service = await startService({ command: toCommand(text.replace('OPS_PORT=9000', 'OPS_PORT=0')), folder, env })
  }

  /** Puts the service of the test where the documentation has that of the reader; starts it if none runs. */
  async function callService(text: string): Promise<string> {
    if (!service && text.search(ORIGINS) >= 0) await serve('exec rollcall serve')
    const { origin = '', opsPort } = service ?? {}
    return text.replace(ORIGINS, origin).replaceAll('http://localhost:9000', `http://127.0.0.1:${opsPort}`)
  }

  /** Runs a command that stays, adds a subscriber, and waits until the reader's program has the address. */
  async function follow(text: string): Promise<void> {
    const follower = spawn(text)
    const email = 'new.subscriber@rollcall.dev'
    try {
      await shell(`echo ${email} | rollcall import -`)
      await until(() => readFileSync(join(folder, 'welcomed'), 'utf8').includes(email))
    } finally {
      follower.kill()
      await follower.exited
    }
    await shell(`rollcall remove --forget ${email}`)
  }

  const runners: Readonly<Record<string, (text: string, name: string) => unknown>> = {
    async sh(text, name) {
      const [, exitCode] = /^exit-(\d+)$/.exec(name) ?? []
      if (exitCode !== undefined) output = await shell(await callService(text), Number(exitCode))
      else if (name) write(text, name)
      else if (/\bnpm start\b/.test(text)) await serve(text)
      else if (/--follow\b/.test(text)) await follow(text)
      else output = await shell(await callService(text))
    },
    json: (text) => expect(JSON.parse(output.stdout)).toEqual(JSON.parse(text)),
    text: (text) => expectOutput((output.stdout + output.stderr).replaceAll('\r\n', '\n'), text),
    csv: write,
    yaml(text, name) {
      write(text, name)
      readConfig({ SITE_FILE: join(folder, name) })
    },
    html: async (text) => expect(await sendForm(await callService(text))).toContain('translate="no">name@example.org<'),
  }

  return {
    async run({ language, name, text }: Block): Promise<void> {
      const run = runners[language]
      if (run === undefined) throw new Error(`there is no runner for the language "${language}"`)
      const url = text.includes(POSTGRES_URL) ? await (await getServer()).createUrl() : ''
      await run(toCheckout(text).replaceAll(POSTGRES_URL, url), name)
    },
    async close(): Promise<void> {
      await service?.stop()
    },
  }
}

/** The paths of a server, as they are in a checkout. */
const toCheckout = (text: string) =>
  text.replaceAll('/usr/share/doc/rollcall/', 'deploy/').replaceAll('/var/lib/rollcall/', 'data/')

/** Sends a form as a browser does, and returns the page of the response. */
async function sendForm(markup: string): Promise<string> {
  const [, method, action] = /<form [^>]*method="(\w+)" action="([^"]+)"/.exec(markup) ?? []
  const names = [...markup.matchAll(/<input [^>]*name="(\w+)"/g)].map(([, name = '']) => name)
  const body = new URLSearchParams(names.map((name): [string, string] => [name, 'name@example.org']))
  const response = await fetch(action ?? '', { method: method ?? 'get', body })
  return response.text()
}

const isRunHere = ({ file, language, name }: Block) => !RUN_ELSEWHERE[file]?.includes(`${language} ${name}`)
const FILES = MARKDOWN_FILES.filter((file) => readBlocks(file).some(isRunHere))

test.each(FILES)('every block of %s works', async (file) => {
  const runner = await createRunner()
  try {
    for (const block of readBlocks(file).filter(isRunHere)) {
      await runner.run(block).catch((error: Error) => {
        throw new Error(`${file}:${block.line}: the ${block.language} block: ${error.message}`)
      })
    }
  } finally {
    await runner.close()
  }
})

test('bin/rollcall runs the command line of the checkout', async () => {
  expect(await Bun.$`bin/rollcall --help`.cwd(ROOT).quiet().text()).toContain('Usage: rollcall')
})

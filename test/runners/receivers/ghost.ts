/**
 * A Ghost from npm, with SQLite. Its package is an application: it is unpacked, and pnpm installs what its own lock file names.
 * Two of those packages are compiled, against the headers that the npm package of Node has. This takes some minutes, once.
 */

import { Database } from 'bun:sqlite'
import { createHmac } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/wait.ts'
import { createFolder, findPort } from '../../support/workspace.ts'

const VERSION = '6.65.0'
const MODULES = join(import.meta.dir, 'node_modules')
const NODE = join(MODULES, 'node/node_modules', `node-${process.platform}-${process.arch}`)
const HOME = join(MODULES, '.ghost', VERSION)

/** Installs Ghost, unless it is installed. A part of an installation is never taken for one. */
export async function installGhost(): Promise<void> {
  if (existsSync(HOME)) return
  const part = `${HOME}.part`
  // The package of Node installs the one for this machine inside of itself, and the next run of npm would remove that.
  rmSync(MODULES, { recursive: true, force: true })
  await Bun.$`npm install --no-audit --no-package-lock --loglevel=error`.cwd(import.meta.dir).quiet()
  mkdirSync(part, { recursive: true })
  const env = { ...process.env, PATH: `${join(NODE, 'bin')}:${process.env.PATH}`, npm_config_nodedir: NODE }
  await Bun.$`npm pack --silent ghost@${VERSION} && tar -xzf ghost-${VERSION}.tgz --strip-components=1`
    .cwd(part)
    .env(env)
    .quiet()
  await Bun.$`${join(MODULES, '.bin/pnpm')} install --prod --frozen-lockfile --reporter=silent`
    .cwd(part)
    .env(env)
    .quiet()
  renameSync(part, HOME)
}

/** A member, and how many newsletters it gets. */
interface Member {
  readonly id: string
  readonly email: string
  readonly newsletters: readonly { readonly id: string }[]
}

export type Ghost = Awaited<ReturnType<typeof startGhost>>

/** Starts a new site with one newsletter. The caller stops it. */
export async function startGhost() {
  const folder = await createFolder()
  cpSync(join(HOME, 'content'), join(folder, 'content'), { recursive: true })
  const port = findPort()
  const url = `http://127.0.0.1:${port}`
  const file = join(folder, 'ghost.db')
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    url,
    server__host: '127.0.0.1',
    server__port: String(port),
    database__client: 'better-sqlite3',
    database__connection__filename: file,
    mail__transport: 'Direct',
    paths__contentPath: join(folder, 'content'),
    security__staffDeviceVerification: 'false',
    privacy__useUpdateCheck: 'false',
    privacy__useGravatar: 'false',
    logging__transports: '["stdout"]',
  }
  const log = Bun.file(join(folder, 'ghost.log'))
  const child = Bun.spawn([join(NODE, 'bin/node'), 'index.js'], { cwd: HOME, env, stdout: log, stderr: log })
  const api = `${url}/ghost/api/admin`
  const isUp = () =>
    fetch(`${api}/site/`).then(
      (response) => response.ok,
      () => false,
    )
  await until(isUp, 'Ghost answers')
  const key = await createKey(api)

  /** Asks as the integration does. */
  async function ask(path: string, init: RequestInit = {}): Promise<{ members: Member[] }> {
    const headers = { 'Content-Type': 'application/json', Authorization: createToken(key) }
    const response = await fetch(`${api}${path}`, { ...init, headers })
    if (!response.ok) throw new Error(`Ghost answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as { members: Member[] }
  }

  /** All members, who are few. */
  const list = async () => (await ask('/members/?limit=100&include=newsletters&order=id%20asc')).members

  /** Sets the newsletters of a member, as the portal does. */
  async function setNewsletters(email: string, newsletters: Member['newsletters']): Promise<void> {
    const member = (await list()).find((one) => one.email === email)
    const body = JSON.stringify({ members: [{ newsletters }] })
    await ask(`/members/${member?.id}/`, { method: 'PUT', body })
  }

  return {
    settings: { url, key },
    list,
    leave: (email: string) => setNewsletters(email, []),
    async comeBack(email: string): Promise<void> {
      const other = (await list()).find(({ newsletters }) => newsletters.length > 0)
      await setNewsletters(email, other?.newsletters ?? [])
    },
    /** What Ghost does after a bounce or a complaint. */
    bounce(email: string): void {
      using db = new Database(file)
      db.run('UPDATE members SET email_disabled = 1 WHERE email = ?', [email])
    },
    /** Whether new members get the newsletter. */
    setOptIn(value: boolean): void {
      using db = new Database(file)
      db.run('UPDATE newsletters SET subscribe_on_signup = ?', [Number(value)])
    },
    async stop(): Promise<void> {
      child.kill()
      await child.exited
    },
  }
}

/** Creates the owner of the site, and an integration. Returns its Admin API key. */
async function createKey(api: string): Promise<string> {
  const origin = new URL(api).origin
  async function post(path: string, body: object, cookie = ''): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: cookie }
    const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`Ghost answered ${response.status}: ${await response.text()}`)
    return response
  }
  const owner = { email: 'owner@site.io', password: 'Correct-Horse-42!' }
  await post('/authentication/setup/', { setup: [{ name: 'Owner', blogTitle: 'The Gazette', ...owner }] })
  // Shortly after the start, Ghost does not know its new session yet.
  let created: Response | undefined
  await until(async () => {
    const session = await post('/session/', { username: owner.email, password: owner.password })
    const [cookie] = (session.headers.get('set-cookie') ?? '').split(';')
    const path = '/integrations/?include=api_keys'
    created = await post(path, { integrations: [{ name: 'Rollcall' }] }, cookie).catch(() => undefined)
    return created !== undefined
  }, 'Ghost creates an integration')
  const { integrations = [] } = ((await created?.json()) ?? {}) as {
    integrations?: { api_keys: { type: string; secret: string }[] }[]
  }
  const admin = integrations[0]?.api_keys.find(({ type }) => type === 'admin')
  return admin?.secret ?? ''
}

/** Creates a token of the Admin API, which is valid for five minutes. */
function createToken(key: string): string {
  const [kid = '', secret = ''] = key.split(':')
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const iat = Math.floor(Date.now() / 1000)
  const text = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${encode({ iat, exp: iat + 300, aud: '/admin/' })}`
  const signature = createHmac('sha256', Buffer.from(secret, 'hex')).update(text).digest('base64url')
  return `Ghost ${text}.${signature}`
}

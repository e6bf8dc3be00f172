/**
 * Firefox of the system, over WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/). Playwright drives only a Firefox
 * of its own, Selenium needs geckodriver, which Debian has not, and puppeteer-core would add 50 MB to each `npm ci`.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../support/programs.ts'
import { until, within } from '../support/wait.ts'

/** A window with one page. */
export interface Tab {
  /** Opens a URL, and waits until it is loaded. */
  open(url: string): Promise<void>
  /** Evaluates an expression in the page. Returns a primitive value. */
  evaluate(expression: string): Promise<unknown>
  /** Waits until an expression is true in the page. */
  waitFor(expression: string): Promise<void>
  /** Types text. Characters from U+E000 are special keys (WebDriver 2, section 17.4.2). */
  type(text: string): Promise<void>
  /** Sets the size of the page in CSS pixels. */
  resize(width: number, height: number): Promise<void>
  close(): Promise<void>
}

export interface Firefox {
  readonly version: string
  createTab(): Promise<Tab>
  close(): Promise<void>
}

/** Prefers no motion, so that what is measured does not move. Asks Mozilla's servers for nothing. */
const PREFERENCES = `
user_pref("ui.prefersReducedMotion", 1);
user_pref("intl.accept_languages", "en");
user_pref("services.settings.server", "data:,");
user_pref("app.normandy.enabled", false);
user_pref("app.update.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
`

/** Starts Firefox without a window. It must be installed. */
export async function startFirefox(): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'rollcall-firefox-'))
  await writeFile(join(profile, 'user.js'), PREFERENCES)
  const log = join(profile, 'log')
  const child = Bun.spawn(
    [
      findProgram('firefox-esr') ?? 'firefox-esr',
      '--headless',
      '--no-remote',
      '--remote-debugging-port=0',
      '--profile',
      profile,
    ],
    { env: { PATH: process.env.PATH, HOME: profile }, stdout: 'ignore', stderr: Bun.file(log) },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  const readAddress = async () => /listening on (ws:\S+)/.exec(await Bun.file(log).text())?.[1]
  await until(async () => (await readAddress()) !== undefined, 'Firefox listens')
  const session = await openSession(`${await readAddress()}/session`)
  const { capabilities } = await session.send<{ capabilities: { browserVersion: string } }>('session.new', {
    capabilities: {},
  })
  return {
    version: capabilities.browserVersion,
    createTab: () => createTab(session),
    async close() {
      await session.send('browser.close', {})
      await within(child.exited, 'Firefox ends')
      await rm(profile, { recursive: true })
    },
  }
}

interface Session {
  send<T>(method: string, params: object): Promise<T>
}

interface Message {
  readonly type: 'success' | 'error' | 'event'
  readonly id: number
  readonly result: unknown
  readonly message?: string
}

async function openSession(url: string): Promise<Session> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(data)
    if (message.type === 'success') waiting.get(message.id)?.resolve(message.result)
    if (message.type === 'error') waiting.get(message.id)?.reject(new Error(message.message))
  })
  await within(new Promise((resolve) => socket.addEventListener('open', resolve)), 'a connection to Firefox')
  return {
    send<T>(method: string, params: object) {
      const id = ++lastId
      const answer = Promise.withResolvers<T>()
      waiting.set(id, answer as PromiseWithResolvers<unknown>)
      socket.send(JSON.stringify({ id, method, params }))
      return within(answer.promise, method)
    },
  }
}

interface Evaluated {
  readonly type: 'success' | 'exception'
  readonly result?: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly text: string }
}

async function createTab({ send }: Session): Promise<Tab> {
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })

  async function evaluate(expression: string): Promise<unknown> {
    const target = { target: { context }, awaitPromise: true }
    const { type, result, exceptionDetails } = await send<Evaluated>('script.evaluate', { expression, ...target })
    if (type === 'exception') throw new Error(`${exceptionDetails?.text} in ${expression}`)
    return result?.value
  }

  return {
    evaluate,
    open: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    waitFor: (expression) => until(async () => (await evaluate(expression)) === true, expression),
    type(text) {
      const actions = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ])
      return send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] })
    },
    resize: (width, height) => send('browsingContext.setViewport', { context, viewport: { width, height } }),
    close: () => send('browsingContext.close', { context }),
  }
}

/** The page in a real browser of 2020: the engine of Qt 5, which is Chromium 87. It draws on a screen in memory. */

import { afterAll, expect, test } from 'bun:test'
import { LOCALES } from '../../src/locales/languages.ts'
import { readList } from '../support/list-file.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { createFolder, findPort } from '../support/workspace.ts'

const { en } = LOCALES
const SITE = `
name: The Harbor Letter
description: One true story each Friday.
issues: [{ title: The night the ferry stayed, url: "https://www.gazette.example/41", date: 2026-11-20 }]
`

const service = await startService({ site: SITE })
const port = findPort()
const program = Bun.spawn(
  [
    'xvfb-run',
    '--auto-servernum',
    '/usr/bin/python3',
    `${import.meta.dir}/old-browser.py`,
    '--no-sandbox',
    '--disable-gpu',
  ],
  {
    env: {
      PATH: process.env.PATH,
      HOME: await createFolder(),
      // Chromium refuses to run as root with its sandbox.
      QTWEBENGINE_DISABLE_SANDBOX: '1',
      QTWEBENGINE_REMOTE_DEBUGGING: String(port),
      QT_QUICK_BACKEND: 'software',
    },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  },
)
const socket = await connect()
afterAll(async () => {
  socket.close()
  // A signal would end only the script around the screen and the window.
  program.stdin.end()
  await Promise.all([program.exited, service.stop()])
})

/** Connects to the page of the window, when it is there. */
async function connect(): Promise<WebSocket> {
  let url = ''
  const find = async () => {
    const pages = await fetch(`http://127.0.0.1:${port}/json`).catch(() => undefined)
    const [page] = ((await pages?.json()) ?? []) as { readonly webSocketDebuggerUrl: string }[]
    url = page?.webSocketDebuggerUrl ?? ''
    return url !== ''
  }
  await until(find, 'the window of the old browser')
  const opened = new WebSocket(url)
  await until(() => opened.readyState === WebSocket.OPEN, 'a connection to the old browser')
  return opened
}

let calls = 0

/** Sends a command of the DevTools protocol. */
function call<T>(method: string, params: object = {}): Promise<T> {
  const id = ++calls
  const { promise, resolve } = Promise.withResolvers<T>()
  const listen = ({ data }: MessageEvent<string>) => {
    const answer = JSON.parse(data)
    if (answer.id !== id) return
    socket.removeEventListener('message', listen)
    resolve(answer.result)
  }
  socket.addEventListener('message', listen)
  socket.send(JSON.stringify({ id, method, params }))
  return promise
}

async function evaluate<T>(expression: string): Promise<T> {
  const { result } = await call<{ readonly result: { readonly value: T } }>('Runtime.evaluate', {
    expression,
    returnByValue: true,
  })
  return result.value
}

async function open(path: string): Promise<void> {
  await call('Page.navigate', { url: service.origin + path })
  await until(() => evaluate<boolean>(`location.pathname === '${path}' && document.readyState === 'complete'`))
}

/** Types an address, and presses the button as a finger does. */
async function send(email: string): Promise<void> {
  await evaluate("document.getElementById('email').select()")
  await evaluate("document.getElementById('email').focus()")
  await call('Input.insertText', { text: email })
  await evaluate("document.querySelector('form > button').click()")
}

const shows = (text: string) =>
  until(() => evaluate<boolean>(`document.body.innerText.includes(${JSON.stringify(text)})`), text)

test('it is as old as it should be', async () => {
  expect(await evaluate<string>('navigator.userAgent')).toContain(' Chrome/87.')
})

test('the page is in order: the title is the largest text, and nothing is above the screen or over something else', async () => {
  await open('/de')
  const sizes = await evaluate<number[]>(
    "['h1', '.description'].map((place) => Number.parseFloat(getComputedStyle(document.querySelector(place)).fontSize))",
  )
  expect(sizes[0]).toBeGreaterThan(1.2 * (sizes[1] ?? 0))
  const tops = await evaluate<number[]>(
    "['main', 'h1', 'form', 'form > button', '.issues', 'footer'].map((place) => document.querySelector(place).getBoundingClientRect().top)",
  )
  expect(tops).toEqual(tops.toSorted((one, other) => one - other))
  expect(tops[0]).toBeGreaterThanOrEqual(0)
  expect(await evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
})

test('a person gets a message after a mistake, then subscribes, and the network is not blamed', async () => {
  await open('/')
  await send('ann@news')
  await shows(en.invalid_email)
  await send('old@news.example')
  await shows(en.accepted)
  await shows('old@news.example')
  expect(await readList(service.folder)).toContain('old@news.example')
})

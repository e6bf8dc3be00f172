/** What readers do with the page, in Firefox. */

import assert from 'node:assert/strict'
import { ar } from '../../src/locales/ar.ts'
import { de } from '../../src/locales/de.ts'
import { en } from '../../src/locales/en.ts'
import type { Tab } from './firefox.ts'

export interface CheckOptions {
  readonly tab: Tab
  /** The origin of the service. */
  readonly origin: string
  /** Returns the addresses of the list. */
  readonly readList: () => Promise<readonly string[]>
}

interface Check {
  readonly name: string
  run(options: CheckOptions): Promise<void>
}

const TAB = '\uE004'
const ENTER = '\uE007'

const textOf = (selector: string) => `document.querySelector('${selector}').textContent`
const isVisible = (selector: string) => `document.querySelector('${selector}').checkVisibility()`
const has = (selector: string, text: string) => `${textOf(selector)}.includes(${JSON.stringify(text)})`

async function subscribe(tab: Tab, email: string): Promise<void> {
  await tab.evaluate("document.querySelector('#email').focus()")
  await tab.type(email + ENTER)
}

export const CHECKS: readonly Check[] = [
  {
    name: 'a person subscribes by keyboard, and sees the address',
    async run({ tab, origin, readList }) {
      await tab.open(origin)
      const isFocused = async () => (await tab.evaluate("document.activeElement.id === 'email'")) === true
      for (let press = 0; press < 10 && !(await isFocused()); press++) await tab.type(TAB)
      await tab.type(`keys@news.example${ENTER}`)
      await tab.waitFor(isVisible('#done'))
      assert.equal(await tab.evaluate(textOf('#address')), 'keys@news.example')
      assert.equal(await tab.evaluate(isVisible('form')), false)
      assert.equal(await tab.evaluate('document.activeElement.id'), 'done')
      assert.ok((await readList()).includes('keys@news.example'))
    },
  },
  {
    name: 'the confirmation leads back to the address',
    async run({ tab, origin }) {
      await tab.open(origin)
      await subscribe(tab, 'again@news.example')
      await tab.waitFor(isVisible('#done'))
      await tab.evaluate("document.querySelector('#again').click()")
      assert.equal(await tab.evaluate('document.activeElement.value'), 'again@news.example')
      assert.equal(await tab.evaluate(isVisible('#done')), false)
    },
  },
  {
    name: 'a mistake gets a message in German, and the text stays',
    async run({ tab, origin }) {
      await tab.open(`${origin}/de`)
      await subscribe(tab, 'name@example')
      await tab.waitFor(has('#outcome', de.outcomes.invalid_email))
      assert.equal(await tab.evaluate("document.querySelector('#email').value"), 'name@example')
      assert.equal(await tab.evaluate("document.querySelector('#email').ariaInvalid"), 'true')
    },
  },
  {
    name: 'a likely typing error gets a question, and the answer is sent',
    async run({ tab, origin, readList }) {
      await tab.open(origin)
      await subscribe(tab, 'bea@gmial.com')
      await tab.waitFor(has('#outcome', en.outcomes.typo.replace('{address}', 'bea@gmail.com')))
      await tab.evaluate("document.querySelector('#outcome button').click()")
      await tab.waitFor(isVisible('#done'))
      assert.ok((await readList()).includes('bea@gmail.com'))
    },
  },
  {
    name: 'without the script, the form posts, and the page confirms',
    async run({ tab, origin, readList }) {
      await tab.open(origin)
      await tab.evaluate("document.querySelector('#email').value = 'plain@news.example'")
      // Does not fire the event that the script listens to.
      await tab.evaluate("document.querySelector('form').submit()")
      await tab.waitFor("location.search === '?subscribed' && document.readyState === 'complete'")
      assert.equal(await tab.evaluate(isVisible('#done')), true)
      assert.ok((await readList()).includes('plain@news.example'))
    },
  },
  {
    name: 'the languages open by keyboard, and lead to Arabic, from right to left',
    async run({ tab, origin }) {
      await tab.open(origin)
      await tab.evaluate("document.querySelector('nav summary').focus()")
      await tab.type(ENTER)
      await tab.waitFor(isVisible('nav a'))
      await tab.evaluate('document.querySelector(\'nav a[hreflang="ar"]\').click()')
      await tab.waitFor("location.pathname === '/ar' && document.readyState === 'complete'")
      assert.equal(await tab.evaluate(textOf('.field button')), ar.subscribe)
      assert.equal(await tab.evaluate("getComputedStyle(document.querySelector('main')).direction"), 'rtl')
    },
  },
  {
    name: 'the title has its font, and nothing moves for readers who prefer that',
    async run({ tab, origin }) {
      await tab.open(origin)
      await tab.waitFor(
        "[...document.fonts].some(({ family, status }) => /Title$/.test(family.replaceAll('\"', '')) && status === 'loaded')",
      )
      assert.equal(await tab.evaluate('document.getAnimations().length'), 0)
    },
  },
  {
    name: 'at 320 pixels nothing overflows, with text of 200 %, and the button is as wide as the field',
    async run({ tab, origin }) {
      await tab.resize(320, 640)
      for (const path of ['/', '/de', '/uk', '/ar']) {
        await tab.open(origin + path)
        const width = (selector: string) => tab.evaluate(`document.querySelector('${selector}').offsetWidth`)
        assert.equal(await width('.field button'), await width('#email'))
        await tab.evaluate("document.documentElement.style.fontSize = '200%'")
        // A scroll bar may take a part of the width.
        const overflow = await tab.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(overflow, 0, path)
      }
    },
  },
]

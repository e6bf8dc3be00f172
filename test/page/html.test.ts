/** The HTML template: escapes every value, and refuses a value in a place where it cannot be escaped. */

import { describe, expect, test } from 'bun:test'
import { Html, html } from '../../src/page/html.ts'

const HOSTILE = `</p><script>alert("1") & 'x'</script>`
const ESCAPED = '&#60;/p&#62;&#60;script&#62;alert(&#34;1&#34;) &#38; &#39;x&#39;&#60;/script&#62;'

describe('between tags', () => {
  test('a text is escaped', () => {
    expect(String(html`<p>${HOSTILE}</p>`)).toBe(`<p>${ESCAPED}</p>`)
  })

  test('markup of the template is not escaped again', () => {
    expect(String(html`<p>${html`<b>${'&'}</b>`}</p>`)).toBe('<p><b>&#38;</b></p>')
  })

  test('a list is joined, and false and undefined are omitted', () => {
    expect(String(html`<p>${['a', [1, html`<br>`], false, undefined]}</p>`)).toBe('<p>a1<br></p>')
  })
})

describe('in a tag', () => {
  test('attributes are escaped, and false and undefined are omitted', () => {
    const attributes = { title: HOSTILE, tabindex: -1, required: true, hidden: false, lang: undefined }
    expect(String(html`<p ${attributes}></p>`)).toBe(`<p title="${ESCAPED}" tabindex="-1" required></p>`)
  })

  test.each(['https://a.example/', 'http://a.example/', 'mailto:a@example.org', '/path', '/'])(
    'the URL %s is allowed',
    (href) => expect(String(html`<a ${{ href }}></a>`)).toBe(`<a href="${href}"></a>`),
  )

  const urls = ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', '//a.example', 'path', '']
  test.each(urls.flatMap((url) => ['href', 'src', 'action'].map((name) => [name, url])))(
    'the URL %s="%s" is refused',
    (name, url) => {
      expect(() => html`<a ${{ [name]: url }}></a>`).toThrow(`${name} is not a web address, a mail address or a path`)
    },
  )
})

describe('refuses', () => {
  const attributes = { title: 'x' }
  const places = {
    'a text in a tag': () => html`<p ${'title=x'}></p>`,
    'a text in an attribute': () => html`<p title="${'x'}"></p>`,
    'attributes in an attribute': () => html`<p title=" ${attributes}"></p>`,
    'attributes between tags': () => html`<p>${attributes}</p>`,
    'attributes in a name': () => html`<p${attributes}></p>`,
    'a text in a script': () => html`<script>${'x'}</script>`,
    'a text in a style': () => html`<style>${'x'}</style>`,
  }
  for (const [name, build] of Object.entries(places)) {
    test(name, () => expect(build).toThrow(TypeError))
  }

  test('markup that the template did not create', () => {
    expect(() => new Html('<b>', Symbol('html'))).toThrow('only the html template creates markup')
  })
})

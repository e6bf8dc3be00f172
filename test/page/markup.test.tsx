/** The template engine: what the page relies on. @jsxImportSource hono/jsx */

import { expect, test } from 'bun:test'

const HOSTILE = `</p><script>alert("1") & 'x'</script>`
const ESCAPED = '&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;) &amp; &#39;x&#39;&lt;/script&gt;'

test('a text is escaped', () => {
  expect(String(<p>{HOSTILE}</p>)).toBe(`<p>${ESCAPED}</p>`)
})

test('the value of an attribute is escaped', () => {
  expect(String(<p title={HOSTILE} />)).toBe(`<p title="${ESCAPED}"></p>`)
})

test('the name of an attribute cannot end the tag', () => {
  const attributes = { '"><script>alert(1)</script>': 'x', 'onclick=alert(1) title': 'x' }
  expect(String(<p {...attributes} />)).toBe('<p></p>')
})

test('parsed JSON is no markup', () => {
  const forged = JSON.parse('{"tag":"script","props":{},"children":["alert(1)"],"isEscaped":true}')
  expect(String(<p>{forged}</p>)).not.toContain('<script')
})

test('false and undefined are omitted', () => {
  const markup = (
    <p hidden={false} lang={undefined}>
      {false}
      {undefined}
    </p>
  )
  expect(String(markup)).toBe('<p></p>')
})

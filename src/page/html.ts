/** HTML by a tagged template that knows where each value stands, and escapes it for that place (HTML, section 13.1). */

/** Markup that is safe to send. Only `html` makes it. */
export class Html {
  readonly #markup: string
  constructor(markup: string, key: symbol) {
    if (key !== KEY) throw new TypeError('markup is made by the html template only')
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}
const KEY = Symbol('html')

/** Attributes of a tag: `true` is the bare name; `false` and `undefined` leave it out. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined
}

/** What may stand between tags; `false` and `undefined` are nothing. */
export type Content = string | number | Html | readonly Content[] | false | undefined

/**
 * Builds markup. Between tags a value is Content, inside a tag it is Attributes:
 *
 *     html`<a class="plain" ${{ href, hreflang }}>${text}</a>`
 *
 * @throws TypeError where a value stands anywhere else, or an attribute is a URL of a scheme that runs code
 */
export function html(literals: TemplateStringsArray, ...values: readonly (Content | Attributes)[]): Html {
  let markup = literals[0] ?? ''
  values.forEach((value, index) => {
    markup += toMarkup(value, toPlace(markup)) + (literals[index + 1] ?? '')
  })
  return new Html(markup, KEY)
}

type Place = 'content' | 'tag' | 'nowhere'

// All values in what precedes have been escaped, so that every `<`, `>` and `"` in it is a template's own.
function toPlace(markup: string): Place {
  const tag = markup.slice(markup.lastIndexOf('<'))
  if (/^<(?:script|style)\b[^>]*>/i.test(tag)) return 'nowhere'
  if (!tag.startsWith('<') || tag.includes('>')) return 'content'
  return /\s$/.test(tag) && tag.split('"').length % 2 === 1 ? 'tag' : 'nowhere'
}

function toMarkup(value: Content | Attributes, place: Place): string {
  if (place === 'content' && isContent(value)) return toContent(value)
  if (place === 'tag' && !isContent(value)) return toAttributes(value)
  throw new TypeError(`a value of this kind has no place here: ${place}`)
}

function isContent(value: Content | Attributes): value is Content {
  return typeof value !== 'object' || value instanceof Html || Array.isArray(value)
}

function toContent(value: Content): string {
  if (value === false || value === undefined) return ''
  if (value instanceof Html) return value.toString()
  return typeof value === 'object' ? value.map(toContent).join('') : toEscaped(value)
}

function toAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== false && value !== undefined)
    .map(([name, value]) => (value === true ? name : `${name}="${toEscaped(toSafe(name, value as string))}"`))
    .join(' ')
}

// The attributes under which browsers take a URL.
const URLS: ReadonlySet<string> = new Set(['href', 'src', 'action'])

function toSafe(name: string, value: string | number): string | number {
  if (!URLS.has(name) || /^(?:https?:\/\/|mailto:|\/(?!\/))/.test(String(value))) return value
  throw new TypeError(`${name} is no web address, mail address or path`)
}

function toEscaped(text: string | number): string {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

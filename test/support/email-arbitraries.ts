/** Generated addresses, and the address rule in plain code. */

import fc from 'fast-check'

/** Whether a text matches the rule of the design. It does not use the pattern, so that tests can compare the two. */
export function matchesRule(text: string): boolean {
  const parts = text.split('@')
  const [local = '', domain = ''] = parts
  const labels = domain.split('.')
  return (
    parts.length === 2 &&
    text.length <= 254 &&
    local.length <= 64 &&
    local.split('.').every((atom) => atom !== '' && [...atom].every((c) => ATEXT.includes(c))) &&
    labels.length >= 2 &&
    labels.every(isLabel) &&
    ![...(labels.at(-1) as string)].every((c) => DIGITS.includes(c))
  )
}

const DIGITS = '0123456789'
const ALPHANUMERIC = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ${DIGITS}`
const ATEXT = `${ALPHANUMERIC}!#$%&'*+-/=?^_\`{|}~`

function isLabel(label: string): boolean {
  const inside = [...label].every((c) => c === '-' || ALPHANUMERIC.includes(c))
  return label !== '' && label.length <= 63 && inside && !label.startsWith('-') && !label.endsWith('-')
}

/** Addresses from the grammar, up to the maximum length. */
export function addresses(): fc.Arbitrary<string> {
  const atom = fc.string({ unit: fc.constantFrom(...ATEXT), minLength: 1, maxLength: 64 })
  const local = fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('.'))
  const label = fc.string({ unit: fc.constantFrom(...ALPHANUMERIC, '-'), minLength: 1, maxLength: 63 })
  const domain = fc.array(label.filter(isLabel), { minLength: 2, maxLength: 5 })
  return fc
    .tuple(
      local.filter((text) => text.length <= 64),
      domain.filter((labels) => !/^[0-9]+$/.test(labels.at(-1) as string)),
    )
    .map(([before, labels]) => `${before}@${labels.join('.')}`)
    .filter((text) => text.length <= 254)
}

/** Texts of every kind. Most are one character away from an address, where errors are likely. */
export function texts(): fc.Arbitrary<string> {
  const character = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...'@@..-_ ,;<>()[]":\\09aZ', '\0', '\n', '\u212A', '\u017F', '\uFEFF', '\uFF41'),
  )
  const broken = fc
    .tuple(addresses(), fc.nat(), fc.nat({ max: 2 }), character)
    .map(([text, position, removed, added]) => {
      const at = position % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + removed)
    })
  const near = fc.string({ unit: fc.constantFrom('a', '1', '-', '.', '@', ' '), maxLength: 12 })
  return fc.oneof(addresses(), { arbitrary: broken, weight: 4 }, near, fc.string({ unit: 'binary' }), fc.string())
}

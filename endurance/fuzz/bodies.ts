/** Random bodies: addresses, nearly addresses, JSON of all kinds, broken JSON and noise. */

import type { Random } from '../random.ts'

export interface FuzzBody {
  /** As Latin-1, so that each character is one byte. */
  readonly text: string
  /** The identity of the address in it, when the contract accepts it. */
  readonly identity?: string | undefined
}

/** What is nearly an address. */
const NEARLY = [
  ...['', ' ', '@', 'a@b', 'a@b.1', 'a@-b.org', 'a..b@c.org', '.a@b.org', 'a@b..org', 'a b@c.org', '"a"@b.org'],
  ...[
    'a@[127.0.0.1]',
    'a@b.org, c@d.org',
    'A <a@b.org>',
    'a@b.org\u0000',
    'ä@b.org',
    'a@ü.org',
    'a@b.org.',
    'mailto:a@b.org',
  ],
]

/** JSON that is not the object of the contract. */
const VALUES = [
  'null',
  '1',
  '"a@b.org"',
  '[]',
  '[{"email":"a@b.org"}]',
  '{}',
  '{"email":null}',
  '{"email":[]}',
  '{"Email":"a@b.org"}',
]

/** Bodies over this many bytes are refused. */
const MOST_BYTES = 16 * 1024

/** Creates a generator of bodies. Every valid address has a number of its own. */
export function createBodies(random: Random): { next(): FuzzBody } {
  let number = 0

  const toUtf8 = (text: string) => Buffer.from(text).toString('latin1')
  const noise = (most: number) =>
    Array.from({ length: random.below(most) }, () => String.fromCharCode(random.below(256))).join('')

  function createValid(): FuzzBody {
    const local = random.pick(['fuzz', 'Fuzz.x', 'f+u=z', "o'z", '!#$%&*', 'a-'])
    const email = `${local}${number++}@${random.pick(['example.org', 'A.Example', 'x-y.xn--p1ai', 'b.test'])}`
    const blanks = random.chance(0.1) ? random.pick([' ', '\t', '\n', '\u00a0', '\u3000']) : ''
    const member = JSON.stringify({ email: `${blanks}${email}${blanks}` })
    const extra = random.chance(0.2) ? `{"other":${random.pick(VALUES)},${member.slice(1)}` : member
    return { text: toUtf8(extra), identity: email.toLowerCase() }
  }

  function createNested(): string {
    const depth = random.between(1, 5_000)
    return random.chance(0.5) ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth / 5)}1`
  }

  /** Valid JSON around the limit of the size. */
  function createLarge(): FuzzBody {
    const { text, identity } = createValid()
    const padded = text.padEnd(MOST_BYTES + random.between(-2, 2), ' ')
    return { text: padded, identity: padded.length <= MOST_BYTES ? identity : undefined }
  }

  function createBroken(): string {
    const { text } = createValid()
    const at = random.below(text.length)
    return text.slice(0, at) + noise(3) + text.slice(at + random.below(3))
  }

  return {
    next() {
      const dice = random.next()
      if (dice < 0.5) return createValid()
      if (dice < 0.6) return { text: toUtf8(JSON.stringify({ email: random.pick(NEARLY) })) }
      if (dice < 0.7) return { text: random.pick(VALUES) }
      // What a broken text still means is not known, so it may put an address on the list.
      if (dice < 0.85) return { text: createBroken() }
      if (dice < 0.95) return { text: noise(200) }
      return dice < 0.97 ? { text: createNested() } : createLarge()
    },
  }
}

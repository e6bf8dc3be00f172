/** Parts of the schema of the site file. Each error says what to use instead. */

import { closest } from 'fastest-levenshtein'
import { z } from 'zod'

/** A text of one line: no control characters, line separators or unpaired surrogates. */
export function line(maxLength: number) {
  const error = `use one line of 1 to ${maxLength} characters, without control characters`
  return z
    .string({ error })
    .trim()
    .min(1, { error })
    .max(maxLength, { error })
    .refine((text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text), { error })
}

/** A URL. The pattern is needed too: the URL parser drops tabs and newlines, and accepts `https:host`. */
export function url(pattern: RegExp, error: string) {
  return z
    .string({ error })
    .trim()
    .refine((text) => pattern.test(text) && URL.canParse(text), { error })
}

/** An object without other keys. */
export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === 'unrecognized_keys' && issue.keys[0] !== undefined
          ? `unknown key ${JSON.stringify(issue.keys[0])}; did you mean "${closest(issue.keys[0], known)}"? Known here: ${known.join(', ')}`
          : `use keys with values: ${known.join(', ')}`,
    })
    .readonly()
}

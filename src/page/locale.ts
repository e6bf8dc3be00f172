/** What the page says, in the shape that every language fills: a phrase that is missing does not compile. */

import type { AddressReason } from '../email.ts'
import type { ErrorCode } from '../errors.ts'

/** What can be told below the field. The codes of the contract that a form can meet, and what is the page's own. */
export type Outcome =
  | Exclude<ErrorCode, 'method_not_allowed' | 'not_found'>
  | 'accepted'
  | 'empty'
  | 'non_ascii'
  | 'sending'
  | 'unreachable'

/** The phrases of one language, as plain text. */
export interface Locale {
  /** The UTC date on which a phrase last changed, as YYYY-MM-DD: the page's lastmod. */
  readonly changed: string
  /** The label of the field. */
  readonly email: string
  /** The button, and the end of the title. */
  readonly subscribe: string
  /** What is stored of a subscriber. */
  readonly kept: string
  /** A link to the owner, for questions and for leaving the list. */
  readonly contact: string
  /** Stands before the name of the licence. */
  readonly license: string
  /** The name of the list of languages. */
  readonly languages: string
  /** A link, shown to those who read this language better than the one the page is in. */
  readonly suggestion: string
  readonly developers: { readonly title: string; readonly lead: string }
  readonly outcomes: Readonly<Record<Outcome, string>>
}

/** What a person is told of an address that the rule refuses: more than the one code, where that helps to mend it. */
export function toOutcome(reason: AddressReason): Outcome {
  if (reason === 'missing' || reason === 'empty') return 'empty'
  return reason === 'non_ascii' ? 'non_ascii' : 'invalid_email'
}

/** Whether an outcome asks for another address. */
export function isMistake(outcome: string | undefined): boolean {
  return outcome === 'empty' || outcome === 'non_ascii' || outcome === 'invalid_email'
}

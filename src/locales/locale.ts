/** The shape of the phrases of one language. A missing phrase does not compile. */

import type { AddressReason } from '../email.ts'

/** The confirmation, and the messages below the field: two codes of the contract, and states of the page. */
export const OUTCOMES = [
  'accepted',
  'empty',
  'invalid_email',
  'non_ascii',
  'refused',
  'sending',
  'storage_failure',
  'too_many',
  'typo',
  'unreachable',
] as const

export type Outcome = (typeof OUTCOMES)[number]

/** The phrases of one language, as plain text. In `typo`, `{address}` stands for the likely address, and `{subscribe}` for the label of the button. */
export interface Locale extends Readonly<Record<Outcome, string>> {
  /** For a site without a name. */
  readonly siteName: string
  /** For a site without a description. */
  readonly siteDescription: string
  /** Who writes. `{author}` stands for the name. */
  readonly by: string
  /** The label of the field. */
  readonly email: string
  /** The label of the button, and the end of the title. */
  readonly subscribe: string
  /** Which data are stored. */
  readonly stored: string
  /** The link to the owner, for questions and for leaving the list. */
  readonly contact: string
  /** The link to the site of the owner. */
  readonly home: string
  /** The heading of the issues to read first, of which there may be one. They stand below the form and below the confirmation. */
  readonly issues: string
  /** The link to the privacy policy. */
  readonly privacy: string
  /** The link to the legal notice of the owner. */
  readonly imprint: string
  /** The text before the name of the license. */
  readonly license: string
  /** The label of the list of languages. */
  readonly languages: string
  /** The link to this language on a page in another language, for readers who prefer this one. */
  readonly suggestion: string
  /** What happens after a subscription. */
  readonly next: string
  /** The button that brings the form back, to correct the address or to add another one. */
  readonly again: string
  /** The heading of the section for developers. */
  readonly developers: string
}

/** Converts the reason for an invalid address to an outcome, which may be more specific than the code. */
export function toOutcome(reason: AddressReason): Outcome {
  return reason === 'empty' || reason === 'non_ascii' ? reason : 'invalid_email'
}

/** Whether an outcome means that the address must be corrected. */
export function isMistake(outcome: Outcome | '' | undefined): boolean {
  return outcome === 'empty' || outcome === 'non_ascii' || outcome === 'invalid_email'
}

/** The phrases that each language has, and the outcomes of the form. */

import type { AddressReason } from '../email.ts'
import type { en } from './en.ts'

/** The phrases of one language: those of English. `toTexts` does not compile if a language lacks one. */
export type Locale = Readonly<Record<keyof typeof en, string>>

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
] as const satisfies readonly (keyof Locale)[]

export type Outcome = (typeof OUTCOMES)[number]

/** Converts the reason for an invalid address to an outcome, which may be more specific than the code. */
export function toOutcome(reason: AddressReason): Outcome {
  return reason === 'empty' || reason === 'non_ascii' ? reason : 'invalid_email'
}

/** Whether an outcome means that the address must be corrected. */
export function isMistake(outcome: Outcome | '' | undefined): boolean {
  return outcome === 'empty' || outcome === 'non_ascii' || outcome === 'invalid_email'
}

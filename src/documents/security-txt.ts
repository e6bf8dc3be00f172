/** The file that says whom to tell of a weakness (RFC 9116). It is not signed, and does not say so. */

import type { Site } from '../config/site-file.ts'
import { DOCUMENTS } from '../routes.ts'

export interface SecurityTxtOptions {
  readonly contact: string
  /** An origin, without a trailing slash. */
  readonly baseUrl: string
  readonly languages: Site['languages']
  /** The day on which the file is handed out, as YYYY-MM-DD. */
  readonly today: string
}

/** Days that a copy is good for; section 2.5.5 asks for less than a year. */
const GOOD_FOR_DAYS = 364

/** Writes security.txt for a day. */
export function createSecurityTxt({ contact, baseUrl, languages, today }: SecurityTxtOptions): string {
  const expires = new Date(`${today}T00:00:00Z`)
  expires.setUTCDate(expires.getUTCDate() + GOOD_FOR_DAYS)
  const fields = [
    ['Contact', contact],
    ['Expires', expires.toISOString().replace('.000', '')],
    ['Preferred-Languages', languages.join(', ')],
    // Section 2.5.2: a web address here begins with https.
    ...(baseUrl.startsWith('https:') ? [['Canonical', baseUrl + DOCUMENTS.securityTxt.path]] : []),
  ]
  return fields.map(([name, value]) => `${name}: ${value}\n`).join('')
}

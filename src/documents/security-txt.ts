import type { Site } from '../config/site-file.ts'
import { DOCUMENTS } from '../routes.ts'

export interface SecurityTxtOptions {
  readonly contact: string
  /** An origin, without a trailing slash. */
  readonly baseUrl: string
  readonly languages: Site['languages']
  /** The day on which the file is served, as YYYY-MM-DD (UTC). */
  readonly today: string
}

/** Days until the file expires. RFC 9116 section 2.5.5 recommends less than a year. */
const VALID_DAYS = 364

/** Builds security.txt (RFC 9116) for a day. It is not signed. */
export function createSecurityTxt({ contact, baseUrl, languages, today }: SecurityTxtOptions): string {
  const expires = new Date(`${today}T00:00:00Z`)
  expires.setUTCDate(expires.getUTCDate() + VALID_DAYS)
  const fields = [
    ['Contact', contact],
    ['Expires', expires.toISOString().replace('.000', '')],
    ['Preferred-Languages', languages.join(', ')],
    // Section 2.5.2: a web address must be https.
    ...(baseUrl.startsWith('https:') ? [['Canonical', baseUrl + DOCUMENTS.securityTxt.path]] : []),
  ]
  return fields.map(([name, value]) => `${name}: ${value}\n`).join('')
}

/** How subscribers are written: CSV, NDJSON, one address a line, and the columns that other programs import. */

import type { Subscriber } from '../../subscriber.ts'

/** The formats of an export. */
export const FORMATS = ['csv', 'ndjson', 'txt'] as const
export type Format = (typeof FORMATS)[number]

/** Programs whose imports are known. */
export const TARGETS = ['listmonk', 'ghost', 'mailchimp', 'buttondown'] as const
export type Target = (typeof TARGETS)[number]

/** Writes subscribers as text. */
export interface Writer {
  /** What comes before the first of them; empty for none. */
  readonly head: string
  /** A page of them. */
  toText(page: readonly Subscriber[]): string
}

interface Column {
  readonly name: string
  readonly value: (subscriber: Subscriber) => string
}

const email = ({ email }: Subscriber) => email
const toIso = ({ subscribedAt }: Subscriber) => subscribedAt.toISOString()

/** The columns of a plain CSV. */
const PLAIN: readonly Column[] = [
  { name: 'email', value: email },
  { name: 'subscribed_at', value: toIso },
  { name: 'seq', value: ({ seq }) => String(seq) },
]

/** What each program takes as it is; read in 2026 from the sources named. */
const TARGET_COLUMNS: Readonly<Record<Target, readonly Column[]>> = {
  // Knows `email`, `name` and `attributes` (a JSON object), and no others; makes up a missing name from the
  // address: knadh/listmonk, internal/subimporter/importer.go.
  listmonk: [
    { name: 'email', value: email },
    { name: 'name', value: () => '' },
    { name: 'attributes', value: (subscriber) => JSON.stringify({ subscribed_at: toIso(subscriber) }) },
  ],
  // `email` is required; `subscribed_to_emails` is true or false; `created_at` is ISO 8601 with milliseconds:
  // ghost.org/help/import-members.
  ghost: [
    { name: 'email', value: email },
    { name: 'subscribed_to_emails', value: () => 'true' },
    { name: 'created_at', value: toIso },
  ],
  // Requires "Email Address" alone, and takes dates as YYYY-MM-DD (mailchimp.com/help/format-guidelines-for-your-import-file);
  // OPTIN_TIME is what its own exports call the date, to the second.
  mailchimp: [
    { name: 'Email Address', value: email },
    { name: 'OPTIN_TIME', value: (subscriber) => toIso(subscriber).slice(0, 19).replace('T', ' ') },
  ],
  // Maps standard names such as `email` by itself (docs.buttondown.com/api-imports-introduction); `creation_date`
  // is what its API and its own exports call the date.
  buttondown: [
    { name: 'email', value: email },
    { name: 'creation_date', value: toIso },
  ],
}

export interface WriterOptions {
  readonly target?: Target | undefined
  /** Puts an apostrophe before what a spreadsheet takes for a formula; it alters those addresses. */
  readonly spreadsheetSafe?: boolean | undefined
}

/** Creates the writer of a format; a target is always CSV. */
export function createWriter(format: Format, { target, spreadsheetSafe }: WriterOptions = {}): Writer {
  if (format === 'txt') return { head: '', toText: (page) => page.map((row) => `${row.email}\n`).join('') }
  if (format === 'ndjson') return { head: '', toText: (page) => page.map(toJsonLine).join('') }
  const columns = target ? TARGET_COLUMNS[target] : PLAIN
  const toCell = spreadsheetSafe ? (value: string) => toCsvCell(toInert(value)) : toCsvCell
  return {
    head: toCsvRow(columns.map(({ name }) => name)),
    toText: (page) => {
      let text = ''
      for (const row of page) {
        let separator = ''
        for (const { value } of columns) {
          text += separator + toCell(value(row))
          separator = ','
        }
        text += '\r\n'
      }
      return text
    },
  }
}

/** Whether a spreadsheet takes an address for a formula (OWASP, CSV Injection); the others of these characters are no atext. */
export function isFormula(text: string): boolean {
  return /^[=+-]/.test(text)
}

/** Writes a row of CSV (RFC 4180). */
export function toCsvRow(cells: readonly string[]): string {
  return `${cells.map(toCsvCell).join(',')}\r\n`
}

/** Quotes a value where it must be (RFC 4180 section 2); csv-stringify does it at a tenth of the speed. */
function toCsvCell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

function toInert(value: string): string {
  return isFormula(value) ? `'${value}` : value
}

function toJsonLine({ seq, email, subscribedAt }: Subscriber): string {
  return `${JSON.stringify({ email, subscribed_at: subscribedAt.toISOString(), seq })}\n`
}

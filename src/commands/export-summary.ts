/** The summary of an export, for people and as JSON. */

import { noteSummary, toCount } from './output.ts'

export interface Exported {
  /** Addresses written. */
  readonly rows: number
  /** Addresses in reserved domains that were left out. */
  readonly reserved: number
  /** Addresses written that a spreadsheet runs as a formula; undefined when they were not counted. */
  readonly formulas: number | undefined
  /** Where the next export continues. */
  readonly cursor: number
}

/** Prints the summary on standard error. */
export function noteExported(exported: Exported): void {
  const { rows, reserved, formulas, cursor } = exported
  const summary = { exported: rows, reserved_excluded: reserved, formulas: formulas ?? null, cursor }
  noteSummary('export', summary, toLines(exported).join('\n'))
}

function toLines({ rows, reserved, formulas, cursor }: Exported): string[] {
  const lines = [`${toCount(rows, 'address', 'addresses')} exported`]
  if (reserved > 0) {
    const excluded = toCount(reserved, 'address', 'addresses')
    lines.push(`${excluded} left out: the domain is reserved, such as example.org; use --include-reserved`)
  }
  lines.push(`cursor: ${cursor}`)
  if (formulas) {
    lines.push(
      `${toCount(formulas, 'address', 'addresses')} would run as a formula in a spreadsheet (=, + or - at the start): use --spreadsheet-safe to put an apostrophe before`,
    )
  }
  return lines
}

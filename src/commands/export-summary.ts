/** The summary of an export. */

import { note, toCount } from './output.ts'

export interface Exported {
  /** Addresses written. */
  readonly rows: number
  /** Addresses in reserved domains that were left out. */
  readonly reserved: number
  /** Where the next export continues. */
  readonly cursor: number
}

/** Prints the summary on standard error. */
export function noteExported({ rows, reserved, cursor }: Exported): void {
  note(`${toCount(rows, 'address', 'addresses')} exported`)
  if (reserved > 0) {
    const excluded = toCount(reserved, 'address', 'addresses')
    note(`${excluded} left out: the domain is reserved, such as example.org; use --include-reserved`)
  }
  note(`cursor: ${cursor}`)
}

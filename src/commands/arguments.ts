/** Reads what is given on the command line. */

import { InvalidArgumentError } from 'commander'
import type { Address } from '../email.ts'
import { UsageError } from '../failure.ts'
import { readAddress } from '../transfer/reading/addresses.ts'

/** An address, by the rule of the list. @throws UsageError */
export function parseAddressArgument(text: string): Address {
  const read = readAddress(text)
  if (read.ok) return read.value
  throw new UsageError(`${JSON.stringify(text.slice(0, 80))}: ${read.reason}`)
}

/** A whole number that is not negative. */
export function parseWholeNumber(text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) throw new InvalidArgumentError('Use a whole number.')
  return value
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** A span of time such as `90m`, `36h` or `7d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = UNITS[unit]
  if (seconds === undefined) throw new InvalidArgumentError('Use a number and s, m, h, d or w, such as 7d.')
  return Number(count) * seconds * 1000
}

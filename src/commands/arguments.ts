/** Parses arguments and options of the command line. */

import { InvalidArgumentError } from 'commander'
import type { Address } from '../email.ts'
import { UsageError } from '../failure.ts'
import { parseOwnerAddress } from '../transfer/reading/addresses.ts'

/** Parses an address. @throws UsageError */
export function parseAddressArgument(text: string): Address {
  const parsed = parseOwnerAddress(text)
  if (parsed.ok) return parsed.value
  throw new UsageError(`${JSON.stringify(text.slice(0, 80))}: ${parsed.reason}`)
}

/** Parses a whole number that is not negative. @throws InvalidArgumentError */
export function parseWholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('Use a whole number.')
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses a duration such as `90m`, `36h` or `7d` into milliseconds. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = UNIT_SECONDS[unit]
  if (seconds === undefined) throw new InvalidArgumentError('Use a number and s, m, h, d or w, such as 7d.')
  return Number(count) * seconds * 1000
}
